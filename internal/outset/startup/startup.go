package startup
