package lock

// Majority is the least number of servers of which any two sets have one in common.
func Majority(size int) int { return size/2 + 1 }
