//go:build !linux

package ability

import "errors"

var errNotHere = errors.New("this is not Linux")

func tryTerminal() error   { return errNotHere }
func tryNamespaces() error { return errNotHere }
func tryNetworks() error   { return errNotHere }
func tryUsers() error      { return errNotHere }
func tryLeases() error     { return errNotHere }
