package lock

// MinimalACL is all that a Redis user needs to run jobs with the default prefix, as ACL SETUSER
// takes it. A database other than 0 needs +select too.
const MinimalACL = "~redlockrun:* +eval +del +getrange +pexpire +pttl +set +time +zrange"

// WaitingACL are the further rights of all users of a lock if one of them waits.
const WaitingACL = "&redlockrun:* +hdel +hget +hset +publish +pubsub|numsub +subscribe +zadd +zcard +zrank +zrem"

// SlotsACL are the further rights of a run for a slot, and of each run that hands the lock over to one.
const SlotsACL = "+hdel +hget +hgetall +hlen +hmget +hset"

// LedgerACL are the rights that write the ledger. Without them jobs run as usual, and leave no record.
const LedgerACL = "+hincrby +hmget +hset +lindex +lpush +ltrim +zadd +zremrangebyscore"

// OutputACL are the rights that keep the output of runs.
const OutputACL = "+hset +lindex +lpush +ltrim"

// ReplicasACL are the further rights for Servers.Replicas.
const ReplicasACL = "+wait"

// ClusterACL are the further rights of a user in a Cluster, so that a job goes on
// while its slot moves. ClusterNodesACL lets a holder know the nodes that its URL
// does not name; it is not needed.
const (
	ClusterACL      = "+asking"
	ClusterNodesACL = "+cluster|slots"
)

// SentinelACL is all that a user of the sentinels needs. With SentinelEpochACL
// too, the later of two configurations wins when as many sentinels know either.
const (
	SentinelACL      = "+sentinel|get-master-addr-by-name"
	SentinelEpochACL = "+sentinel|master"
)

// QuorumACL are the rights of a user of a quorum in addition to MinimalACL, unless the
// masters are durable.
const QuorumACL = "+info"

// ReaderACL is all that a user needs to read what is known of jobs, as ACL SETUSER takes it.
// Who lacks a part of it is shown the rest. ScanACL is needed beside it to find the locks
// that are in no list, and in a Cluster ClusterNodesACL.
const (
	ReaderACL = "~redlockrun:* +eval +getrange +hgetall +hlen +hmget +lrange +pttl +time +zcard +zrange +zscan"
	ScanACL   = "+scan"
)

// OperatorACL is all that a user needs to pause, resume, stop, unlock and forget jobs, as ACL
// SETUSER takes it. To read their state takes a ReaderACL.
const OperatorACL = "~redlockrun:* &redlockrun:* " +
	"+eval +del +getrange +hdel +hget +hincrby +hmget +hset +lpush +ltrim " +
	"+pexpire +pttl +publish +set +time +zadd +zrange +zrem"
