package guard

// What bytes and strconv do, without these packages.

// cut is bytes.Cut.
func cut(b []byte, at byte) (before, after []byte) {
	for i, c := range b {
		if c == at {
			return b[:i], b[i+1:]
		}
	}
	return b, nil
}

// field reads "N " off the front.
func field(b []byte) (value int, rest []byte) {
	first, rest := cut(b, ' ')
	return number(first), rest
}

// number returns the value of decimal digits, -1 for any other text.
func number(b []byte) int {
	const most = 1 << 27 // more than any number of a process or descriptor; ten times it fits an int everywhere
	if len(b) == 0 {
		return -1
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' || n > most {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

func decimal(n int) string { return string(appendDecimal(nil, n)) }

func appendDecimal(b []byte, n int) []byte {
	if n >= 10 {
		b = appendDecimal(b, n/10)
	}
	return append(b, byte('0'+n%10))
}
