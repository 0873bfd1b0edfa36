package rules

// An Access is the answer, see engine.Access.
type Access uint8

// The values of Access.
const (
	Unknown Access = iota
	Denied
	Allowed
)

// String returns "unknown", "denied" or "allowed".
func (a Access) String() string { return [...]string{"unknown", "denied", "allowed"}[a] }

// A Reason says how a verdict was decided, see engine.Reason.
type Reason uint8

// The values of Reason.
const (
	ReasonRule Reason = iota
	ReasonDefault
	ReasonNoGroup
	ReasonNoRobots
	ReasonRobotsTxt
	ReasonStatus4xx
	ReasonUnreachable
	ReasonUnreachableExpired
	ReasonRedirectLimit
	ReasonTooLarge
	ReasonUndefined
	ReasonBadURL
	ReasonBadAgent
	NumReasons = int(iota)
)

var reasonNames = [NumReasons]string{
	"rule", "default", "no_group", "no_robots", "robots_txt", "status_4xx", "unreachable", "unreachable_expired",
	"redirect_limit", "too_large", "undefined", "bad_url", "bad_agent",
}

// String returns the reason as the output column "reason" spells it.
func (r Reason) String() string { return reasonNames[r] }

// A Verdict is the answer of a Set, see engine.Verdict.
type Verdict struct {
	Rule   int32 // for Set.Rule; NoRule if no rule won
	Reason Reason
	Access Access
}

// NoRule is the Rule of a verdict that was not decided by a rule.
const NoRule int32 = -1
