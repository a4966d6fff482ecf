// Which surfaces of a project a piece of work touches, by the words in its text. Plain counting: the same text and the same
// surfaces always give the same answer, and everybody can see why.
import type { SurfaceRule } from '../knowledge/rules.ts';

/** How the scores are counted; told with every envelope, so that an old one can be understood. */
export const ROUTING_VERSION = '1';

export type Match = {
  readonly surface: string;
  readonly score: number;
  /** The words that were found. */
  readonly signals: readonly string[];
};

const ACTIVE_MIN = 1;
/** Of the best score. */
const ACTIVE_SHARE = 0.55;
const FALLBACK: Pick<Match, 'score' | 'signals'> = { score: 0.2, signals: ['agent-fallback'] };
const TEXT_CHARS_MAX = 16_384;

type Words = Pick<SurfaceRule, 'keywords' | 'commands' | 'artifacts'>;

/** The active surfaces, best first; ties in the order of their names. */
export function matchSurfaces(text: string, surfaces: Readonly<Record<string, Words>>): readonly Match[] {
  const occurs = finderIn(plainText(text.slice(0, TEXT_CHARS_MAX)));
  const scored = Object.entries(surfaces)
    .map(([surface, words]) => scoreOf(occurs, surface, words))
    .sort((a, b) => b.score - a.score || (a.surface < b.surface ? -1 : 1));
  const top = scored[0]?.score ?? 0;
  return scored.filter(({ score }) => score >= ACTIVE_MIN && score >= ACTIVE_SHARE * top);
}

/** The surface of an agent to which nothing else points. */
export function fallbackTo(surface: string): Match {
  return { surface, ...FALLBACK };
}

/** How sure the routing is, from 0 to 1: three words for each surface are as good as certainty. */
export function confidenceOf(matches: readonly Pick<Match, 'score'>[]): number {
  const sum = matches.reduce((total, { score }) => total + score, 0);
  return Math.round(Math.min(1, sum / Math.max(3 * matches.length, 1)) * 100) / 100;
}

function scoreOf(occurs: (word: string) => boolean, surface: string, { keywords, commands, artifacts }: Words): Match {
  const signals = new Set<string>();
  const count = (words: readonly string[], points: number) => {
    let sum = 0;
    for (const word of new Set(words.map(plainText))) {
      if (!occurs(word)) continue;
      signals.add(word);
      sum += points;
    }
    return sum;
  };
  const score = count(keywords, 1) + count(commands, 1.5) + count(artifacts, 1) + count([surface], 1);
  return { surface, score, signals: [...signals] };
}

/** Whether a word occurs in the text. Surfaces share many of their words, and each is looked for once. */
function finderIn(text: string): (word: string) => boolean {
  const known = new Map<string, boolean>([['', false]]);
  return (word) => {
    const found = known.get(word) ?? text.includes(word);
    known.set(word, found);
    return found;
  };
}

function plainText(text: string): string {
  return text.toLowerCase().split(/\s+/).filter(Boolean).join(' ');
}
