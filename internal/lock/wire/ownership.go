package wire

// Ownership says whose a lock is, as seen by the run that asks. The steps answer with these numbers, and know them as
// WIRE.<name>.
type Ownership int

const (
	Unanswered Ownership = iota // no answer
	Own                         // the run's; in a quorum: by the term that asks
	OwnOlder                    // in a quorum: the run's, by a term before the one that asks
	OwnNewer                    // in a quorum: the run's, by a later term; or the term that asks has been given up
	Free                        // nobody's
	Others                      // another run's, or the cool-down of this run
)

// Available reports whether neither the term that asks nor another run has the lock.
func (o Ownership) Available() bool { return o == OwnOlder || o == OwnNewer || o == Free }
