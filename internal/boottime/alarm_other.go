//go:build !linux

package boottime

import "errors"

// NewAlarm returns an error: there is none here.
func NewAlarm() (Alarm, error) { return nil, errors.ErrUnsupported }
