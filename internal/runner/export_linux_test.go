package runner

// Park and Unpark tell the guard what Run tells it when the command is suspended.
func (g *Guard) Park()   { g.park() }
func (g *Guard) Unpark() { g.unpark() }
