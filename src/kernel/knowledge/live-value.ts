// What kind of value stands at a place, as far as that decides whether it can be live state.
import type { Json } from '../json.ts';

export function isCount(value: Json): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0;
  return typeof value === 'string' && /^\d{1,9}$/.test(value);
}

const RATIO = /^(\d{1,9}) ?(?:\/|of) ?(\d{1,9})(?: (?:running|ready|available|healthy))?$/i;

/** So many of so many. `24/7` is no such thing. */
export function isRatio(value: Json): boolean {
  const [, some, all] = (typeof value === 'string' && RATIO.exec(value)) || [];
  return some !== undefined && Number(some) <= Number(all);
}

const PORT_MIN = 1000;

/** A number beside the name of something is a port sooner than so many of it. */
export function isPort(value: Json): boolean {
  return [80, 443].includes(Number(value)) || Number(value) >= PORT_MIN;
}

/** A number, or a text that begins with one. */
export function isMeasured(value: Json): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^[~<>≈]? ?\d/.test(value));
}

const REFERENCE = /\$\{|\{\{|^(?:var|local|module|data|output)\./;
const FILE =
  /^[\w./@-]{1,200}\.(?:tf|tfvars|hcl|ya?ml|json|toml|md|txt|ts|js|py|go|sh|rb|java|kt|rs)(?:[#:][\w-]{1,60})?$/;

/** What points at the place where a value is worked out or written down is configuration, whatever it is called. */
export function isReference(value: Json): boolean {
  return typeof value === 'string' && value.length <= 255 && (REFERENCE.test(value) || FILE.test(value));
}

const RANGE = /^[0-9a-f.:]{2,45}\/\d{1,3}$/i;

export function isRange(value: Json): boolean {
  return typeof value === 'string' && RANGE.test(value);
}

/** The text without signs and in small letters; of `Up 3 hours` or `Exited (0)` only the word in front. */
export function stateIn(value: Json): string {
  if (typeof value !== 'string' || value.length > 64) return '';
  return value
    .replace(/ [(\d].*$/s, '')
    .replace(/[-_ .]/g, '')
    .toLowerCase();
}

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/i;
const BALANCER_KINDS = new Set(
  'application network classic gateway internal external internet facing public private global regional shared dedicated none l4 l7 layer4 layer7 http https tcp udp tls nginx haproxy traefik envoy caddy istio kong contour metallb cilium ingress controller proxy aws gcp azure alb nlb elb'.split(
    ' ',
  ),
);

/** What a load balancer may be called. A name in which every word is one for a kind says what it is. */
export function isBalancerName(value: Json): boolean {
  if (typeof value !== 'string' || !NAME.test(value)) return false;
  return !value
    .toLowerCase()
    .split('-')
    .every((word) => BALANCER_KINDS.has(word));
}
