//go:build !linux

package boottime

import "errors"

// NewAlarm returns an error: this system has no alarm.
func NewAlarm() (Alarm, error) { return nil, errors.ErrUnsupported }
