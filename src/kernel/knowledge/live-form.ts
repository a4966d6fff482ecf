// Texts that look like live state whatever they are called: addresses, ids that a cloud gave, names that a scheduler made
// up, and sentences that count what runs.

/** A longer text is prose; prose is searched, up to a bound, for addresses and counts only. */
const FORM_CHARS_MAX = 255;
const PROSE_CHARS_MAX = 4_096;

/** What the text looks like, in words; undefined where it looks like none of it. */
export function liveForm(text: string): string | undefined {
  const form = text.length <= FORM_CHARS_MAX ? FORMS.find(([pattern]) => pattern.test(text)) : undefined;
  if (form) return form[1];
  const prose = text.slice(0, PROSE_CHARS_MAX);
  if (hasAddress(prose)) return 'an IP address';
  if (isSaid(prose, COUNTED)) return 'a count of what runs';
  return isSaid(prose, FAULT_NOW) ? 'a runtime status' : undefined;
}

// All eight groups, or fewer around one gap; with a digit, for there are words of these letters only.
const IPV6 =
  /^(?=[a-f:]*\d)(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:){1,6}:(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5})?)$/i;
const CLOUD_ADDRESS = 'an address that a cloud gave';
const LOAD_BALANCER = 'the address of a load balancer';
const FORMS: readonly (readonly [RegExp, string])[] = [
  [/^vpc-[0-9a-f]{8,17}$/, 'the id of a network'],
  [
    /^(?:subnet|sg|eni|igw|nat|rtb|eipalloc|vol|snap|tgw|pcx|acl|i)-(?:[0-9a-f]{8}|[0-9a-f]{17})$/,
    'an id that a cloud gave',
  ],
  [/(?:^|[./@])[a-z0-9.-]{1,128}\.elb(?:\.[a-z0-9-]{1,32})?\.amazonaws\.com(?:[:/]|$)/i, LOAD_BALANCER],
  [/^arn:aws[a-z-]{0,16}:elasticloadbalancing:/, LOAD_BALANCER],
  [/^(?:[a-z]+:\/\/)?[a-z0-9-]{1,63}\.(?:[a-z0-9-]{1,32}\.)?cloudapp\.azure\.com(?:[:/]|$)/i, LOAD_BALANCER],
  [/\.(?:rds|cache)\.amazonaws\.com(?:[:/]|$)|(?:^|[/.])d[0-9a-z]{12,14}\.cloudfront\.net(?:[:/]|$)/i, CLOUD_ADDRESS],
  [/^(?:ec2|ip)-\d{1,3}(?:-\d{1,3}){3}\./, 'the name of an instance'],
  // A scheduler's names end in two groups of an alphabet without vowels.
  [
    /^[a-z0-9][a-z0-9-]{0,200}-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$/,
    'the name of a pod',
  ],
  [IPV6, 'an IP address'],
];

const IPV4 = /(?<![\w.-])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![\w-]|\.\d|\/\d{1,2}(?!\w))/g;
// Addresses that mean the same on every machine are configuration.
const FIXED_ADDRESS = /^(?:127\.|0\.0\.0\.0$|255\.|169\.254\.169\.254$|8\.8\.[48]\.[48]$|1\.[01]\.[01]\.1$)/;

function hasAddress(text: string): boolean {
  for (const [address, ...parts] of text.matchAll(IPV4)) {
    if (parts.every((part) => Number(part) <= 255) && !isFixedAddress(address)) return true;
  }
  return false;
}

export function isFixedAddress(address: string): boolean {
  return FIXED_ADDRESS.test(address) || address === '::' || address === '::1';
}

const THINGS = '(?:pods?|replicas?|instances?|nodes?|containers?|tasks?)';
const STATES = '(?:running|ready|up|down|healthy|unhealthy|available|unavailable|failing)';
const COUNTED = new RegExp(
  `(?<![\\d.])\\d{1,6}(?: {0,2}(?:/|of) {0,2}\\d{1,6})? ${THINGS} (?:are |is |currently ){0,2}${STATES}(?![a-z])|^\\d{1,6} {0,2}/ {0,2}\\d{1,6} ${THINGS}$`,
  'gi',
);
// That something is in such a state is said of now; the word alone may stand in advice about it.
const FAULT_NOW =
  /(?<![a-z])(?:is|are|now|currently) (?:now |currently |in ){0,2}(?:crashloopbackoff|imagepullbackoff|errimagepull|oomkilled)(?![a-z])/gi;

const CLAUSE_CHARS_MAX = 100;
// What comes after these in a sentence is a condition or a demand, and true at any time.
const ADVICE =
  /(?<![a-z])(?:if|when|whenever|once|until|unless|while|after|before|should|must|needs?|requires?|ensure|expects?|at least|at most|up to|minimum|maximum|in case)(?![a-z])[^.;!?\n]*$/i;

/** Whether it is said somewhere in the text other than in advice. */
function isSaid(text: string, what: RegExp): boolean {
  for (const { index } of text.matchAll(what)) {
    if (!ADVICE.test(text.slice(Math.max(0, index - CLAUSE_CHARS_MAX), index))) return true;
  }
  return false;
}
