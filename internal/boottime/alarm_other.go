//go:build !linux

package boottime

import (
	"errors"
	"time"
)

// An Alarm needs timerfd_create(2).
type Alarm struct{}

// NewAlarm returns an error: there is none here.
func NewAlarm() (*Alarm, error) { return nil, errors.ErrUnsupported }

// Bell never rings.
func (*Alarm) Bell() <-chan struct{} { return nil }

// Set does nothing.
func (*Alarm) Set(time.Time) error { return errors.ErrUnsupported }

// Close does nothing.
func (*Alarm) Close() {}
