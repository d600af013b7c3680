package boottime

import (
	"os"
	"strings"
)

// BootID tells this boot of this machine from any other, by 16 hexadecimal digits; "" if
// nobody knows. See random(4).
func BootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	digits := strings.ReplaceAll(strings.TrimSpace(string(text)), "-", "")
	if len(digits) < 16 {
		return ""
	}
	return digits[:16]
}
