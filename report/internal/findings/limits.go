package findings

import (
	"regexp"
	"strings"

	"github.com/robobatch/robobatch/internal/timespan"
)

// Most is how many findings a page has.
const Most = 7

// A Kind is the subject of a finding.
type Kind uint8

// The kinds of findings.
const (
	Closed         Kind = iota // a search crawler may fetch nothing of a site
	Misplaced                  // a text in force that was surely meant for another place, or is none
	Foreign                    // a text in force that names another place, and does what one for this place would
	Unserved                   // the server never sends the robots.txt
	ClosedPath                 // a search crawler may not fetch a path that many clients ask for
	Stopped                    // a crawler comes no more
	Slowed                     // a crawler comes much less
	FailingPath                // a whole path answers crawlers by errors of the server, to the end of the log
	Failing                    // crawlers get errors of the server
	Wasted                     // crawlers spend their requests on a parameter
	Endless                    // crawlers spend them on URLs without end
	Violated                   // crawlers fetched disallowed URLs
	Faked                      // clients use the names of crawlers
	Redirected                 // crawlers are sent elsewhere
	Missing                    // crawlers ask for missing pages, or are refused
	Changed                    // a robots.txt changed
	Offered                    // sitemaps offer URLs that are closed to search crawlers
	OfferedFailing             // sitemaps offer URLs that fail
	Ineffective                // rules that match nothing as they are written, though crawlers fetched what they mean
	Idle                       // rules that another always wins over, or that matched nothing
	numKinds       = int(iota)
)

// String returns a word for the kind.
func (k Kind) String() string {
	return [numKinds]string{"closed", "misplaced", "foreign", "unserved", "closed-path", "stopped", "slowed", "failing-path", "failing", "wasted", "endless", "violated", "faked", "redirected", "missing", "changed", "offered", "offered-failing", "ineffective", "idle"}[k]
}

// A limit says how a kind of finding is ranked, and from where on it is one.
type limit struct {
	weight float64 // of an affected request: findings are ranked by its product with how many there are
	days   float64 // added to the weight for each day that it lasts
	least  int64   // affected requests that make it a finding
	share  float64 // of the requests that could be affected, or of those of one crawler; the same
}

// limits are the ranking and the thresholds of all kinds. The weights compare the worth of one request of each kind: a page
// that search cannot see is lost, a redirect costs a fetch.
var limits = [numKinds]limit{
	Closed:         {weight: 10, days: 1, least: 20},
	Misplaced:      {weight: 8, days: 1, least: 20},
	Foreign:        {weight: .3, days: .005, least: 20},
	Unserved:       {weight: 8, least: 10},
	ClosedPath:     {weight: 4, days: .1, least: 50, share: .1},
	Stopped:        {weight: 4, days: .1, least: 50},
	Slowed:         {weight: 2, days: .1, least: 200},
	FailingPath:    {weight: 4, days: .3, least: 50, share: .02},
	Failing:        {weight: 4, days: .1, least: 50, share: .02},
	Wasted:         {weight: 1, least: 500, share: .2},
	Endless:        {weight: 1, least: 200, share: .05},
	Violated:       {weight: 2, days: .02, least: 20},
	Faked:          {weight: 1, days: .02, least: 20},
	Redirected:     {weight: .5, days: .01, least: 100, share: .2},
	Missing:        {weight: .5, least: 500, share: .3},
	Changed:        {weight: .1, least: 1},
	Offered:        {weight: 4, least: 1},
	OfferedFailing: {weight: 2, least: 5, share: .01},
	Ineffective:    {weight: .2, least: 20},
	Idle:           {weight: .001, least: 1, share: .5},
}

// The signs that a crawler stopped, or came less. Stretches are days, or hours of a log of less than fewDays.
const (
	fewDays      = 8
	leastHours   = 48  // of a log whose stretches are hours
	restHours    = 24  // without a request, of a crawler that stopped
	restDays     = 2   // the same of a log by days
	restShare    = .15 // of the log, the same
	presentShare = .7  // of the stretches before that had a request or, before a fall, half of the median
	longerRest   = 3.  // times the longest rest, or time of few requests, before
	fallDays     = 3   // before and after a fall
	fallHours    = 24  // the same of a log by hours
	beforeShare  = .3  // of the log, before a fall
	lessShare    = .25 // of the median before, that a stretch after a fall has at most
	moreShare    = .2  // of the stretches after, that may have more
	quietShare   = .5  // of all requests there must still be, or the log itself ends
)

// searchedShare is the share of a site's requested paths that a text may leave to a search crawler and still close the site.
const searchedShare = .02

// A site with siteShare of all requests that is closed for so long is worse than any closed path.
const (
	siteShare  = .05
	closedLong = 20 * timespan.Hour // between the first and the last request
)

// FailingShare is how much of a crawler's requests for a path are answered by an error of the server where the path fails.
const FailingShare = .8

// losesNoPage says how a robots.txt that is lost, so that nothing is closed, stands to a path that fails now for search crawlers: crawlers
// fetch too much, but no page leaves search. So it ranks below, whatever their numbers. It returns its score.
func losesNoPage(score, failing float64) float64 { return min(score, failing*score/(1+score)) }

// fanOut is how many URLs a path has at least, on average, of a parameter that makes the same pages again.
const fanOut = 10

// nearlyAll is the share of a path's requests that a text must deny to close the path.
const nearlyAll = .9

// outageShare is how much of a crawler's requests in a stretch of time got an error of the server in an outage.
const outageShare = .5

// jumpShare is how much of its share in a time an answer has at most in the rest of the log, or it has been there all the time.
const jumpShare = .5

// strayShare is how much of an answer stretches have at most, before or after those that have nearly all of it, to tell nothing of when it
// began or ended: a request alone on its day is all of that day.
const strayShare = .05

// clearLead is how much of all requests of a sample one status, or one path, has more than the next, to be called the commonest.
const clearLead = .1

// A finding that many rules of a text matched nothing takes so many rules, and requests that the text decided. Rules that are kept do not
// count for it.
const (
	leastRules = 4
	leastTried = 10_000
)

// meantPaths are the words in names of paths that sites close to crawlers on purpose.
var meantPaths = regexp.MustCompile(`(?i)(^|[^a-z]|site|[a-df-z])search|recherche|checkout|warenkorb|basket|customer|account|konto|profile|log-?(in|out)|sign-?(in|up|out)|registration|admin|wp-|xmlrpc|graphql|wishlist|trackback|` +
	`(^|[^a-z])(panier|commande|compte|connexion|inscription|carrito|cesta|cuenta|buscar|busqueda|pedido|carrello|carrinho|pesquisa|ricerca|ordine|winkelwagen|winkelmand|zoeken|bestelling|koszyk|szukaj|varukorg|kassa|korzina|poisk)([^a-z]|$)|` +
	`(^|[^a-z])([a-z]*cart|suche?|find|query|install|installation|installer|setup|order|user|member|register|auth|cgi|api|ajax|rest|private?|intern(al)?|te?mp|cache|session|track(ing)?|pixel|beacon|stat(istic)?|print|feed|rss|tag|filter|sort|compare|download|export|calendar|comment)s?([^a-z]|$)`)

// IsMeant reports whether the words of a rule's path say that sites close it to crawlers on purpose: a log-in, a basket, a search.
func IsMeant(path string) bool { return strings.HasPrefix(path, "/") && meantPaths.MatchString(path) }

// stagingWords are the words of comments that only a text for a site that nobody shall find has.
var stagingWords = regexp.MustCompile(`(?i)\b(staging|stage (server|site|system)|(test|development|dev) (server|site|system|environment)|do not deploy|not for production|under construction)\b`)

// stagingHosts are the labels of hosts that nobody shall find.
var stagingHosts = regexp.MustCompile(`(?i)(^|[.-])(staging|stage|dev|devel|test|testing|uat|qa|preview|preprod|local|localhost|sandbox|demo)\d*([.-]|$)`)
