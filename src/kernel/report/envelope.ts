// The INPUT envelope: what an agent is given before its turn, and how the words of the work choose the surfaces it touches.
// Its flags decide whether the report must carry a consolidation_report.
import type { Field, ValueOf } from '../fields.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { isEmpty } from '../knowledge/live-state.ts';
import type { SurfaceRule } from '../knowledge/rules.ts';
import { CONSOLIDATION_KEYS, EVIDENCE_KEYS } from './sections.ts';

const TEXT = { type: 'text', mayBeEmpty: true, required: true } as const;
const TEXTS = { type: 'list', of: { type: 'text', mayBeEmpty: true }, required: true } as const;
const FLAG = { type: 'flag', required: true } as const;
const MODE = {
  type: 'choice',
  of: ['reconnaissance', 'single_surface', 'sequential', 'parallel'],
  required: true,
} as const;
const OBJECT = { type: 'object', unknown: 'free', fields: {}, required: true } as const;

/** The shape of the envelope: its type and its published schema are made from this table. */
export const INPUT = {
  type: 'object',
  unknown: 'free',
  fields: {
    project_knowledge: { type: 'map', of: OBJECT, required: true },
    surface_routing: {
      ...OBJECT,
      fields: {
        active_surfaces: TEXTS,
        primary_surface: TEXT,
        multi_surface: FLAG,
        dispatch_mode: MODE,
        confidence: { type: 'number', min: 0, max: 1, required: true, means: 'with two decimals' },
        recommended_agents: TEXTS,
        matched_signals: { type: 'map', of: TEXTS, required: true, means: 'by surface, the words that led to it' },
        reconnaissance_agent: TEXT,
      },
    },
    agent_contract_handoff: {
      ...OBJECT,
      fields: {
        goal: TEXT,
        acceptance_criteria: TEXTS,
        scope: TEXTS,
        agent_role: { type: 'choice', of: ['primary', 'cross_check', 'adjacent', 'reconnaissance'], required: true },
        primary_surface: TEXT,
        active_surfaces: TEXTS,
        adjacent_surfaces: TEXTS,
        dispatch_mode: MODE,
        cross_check_required: FLAG,
        consolidation_required: FLAG,
        consolidation_fields: { type: 'list', of: { type: 'choice', of: CONSOLIDATION_KEYS }, required: true },
        evidence_required: { type: 'list', of: { type: 'choice', of: EVIDENCE_KEYS }, required: true },
        patterns_required: { type: 'const', value: true, required: true },
        contract_sections_to_anchor: TEXTS,
        required_checks: TEXTS,
        recommended_peer_agents: TEXTS,
        stop_conditions: TEXTS,
      },
    },
    write_permissions: {
      ...OBJECT,
      fields: {
        readable_sections: TEXTS,
        writable_sections: TEXTS,
        empty_sections: { ...TEXTS, means: 'writable and still empty: the agent is asked to fill them' },
        source: TEXT,
      },
    },
    metadata: { ...OBJECT, means: 'for tracing only; nothing here steers a turn' },
  },
} as const satisfies Field;

type Envelope = ValueOf<typeof INPUT>;
export type SurfaceRouting = Envelope['surface_routing'];
type TurnBrief = Envelope['agent_contract_handoff'];
export type InputEnvelope = Omit<Envelope, 'project_knowledge' | 'metadata'> & {
  readonly project_knowledge: Readonly<Record<string, JsonObject>>;
  readonly metadata: JsonObject;
};

/** What routing and brief need to know of a surface. */
type Surface = Pick<SurfaceRule, 'agent' | 'neighbours' | 'checks' | 'sections'>;

export type InputParts = {
  readonly agent: string;
  readonly goal: string;
  readonly acceptanceCriteria: readonly string[];
  readonly scope: readonly string[];
  readonly surfaces: Readonly<Record<string, Surface>>;
  /** The surfaces the work touches, best match first. */
  readonly activeSurfaces: readonly string[];
  /** Why they are active, where that was counted. */
  readonly matches?: readonly Match[];
  readonly reconnaissanceAgent: string;
  /** All stored sections; the agent is shown those it may read. */
  readonly store: Readonly<Record<string, Json>>;
  readonly readableSections: readonly string[];
  readonly writableSections: readonly string[];
  readonly permissionSource: string;
  readonly metadata: JsonObject;
};

export function buildInput(parts: InputParts): InputEnvelope {
  const routing = routeOf(parts);
  const knowledge = knowledgeFor(parts, routing.active_surfaces);
  const stored = (section: string) => !isEmpty(parts.store[section]);
  return {
    project_knowledge: knowledge,
    surface_routing: routing,
    agent_contract_handoff: briefOf(parts, routing, Object.keys(knowledge)),
    write_permissions: {
      readable_sections: parts.readableSections,
      writable_sections: parts.writableSections,
      empty_sections: parts.writableSections.filter((section) => !stored(section)),
      source: parts.permissionSource,
    },
    metadata: { ...parts.metadata, active_surfaces_count: routing.active_surfaces.length },
  };
}

const STOP_CONDITIONS = [
  'Stop and report BLOCKED when the work needs a surface that is not yours.',
  'Stop and report NEEDS_INPUT when only a person can decide between the options.',
  'Stop and report APPROVAL_REQUEST before a command that changes state outside your scope.',
];

function routeOf(parts: InputParts): SurfaceRouting {
  const own = ownSurface(parts);
  const isFallback = parts.activeSurfaces.length === 0 && own !== null;
  const active = isFallback ? [own] : unique(parts.activeSurfaces);
  const matches = isFallback ? [fallbackTo(own)] : (parts.matches ?? []);
  const agents = unique(active.flatMap((surface) => parts.surfaces[surface]?.agent ?? []));
  return {
    active_surfaces: active,
    primary_surface: own !== null && active.includes(own) ? own : (active[0] ?? ''),
    multi_surface: active.length > 1,
    dispatch_mode: modeOf(active),
    confidence: confidenceOf(matches),
    recommended_agents: agents.length > 0 ? agents : [parts.reconnaissanceAgent].filter((name) => name !== ''),
    matched_signals: Object.fromEntries(matches.map(({ surface, signals }) => [surface, signals])),
    reconnaissance_agent: parts.reconnaissanceAgent,
  };
}

/** The surface the agent answers for; of several the one that is active, best match first. */
function ownSurface({ agent, surfaces, activeSurfaces }: InputParts): string | null {
  const owned = Object.keys(surfaces).filter((surface) => surfaces[surface]?.agent === agent);
  return activeSurfaces.find((surface) => owned.includes(surface)) ?? owned[0] ?? null;
}

function modeOf(active: readonly string[]): SurfaceRouting['dispatch_mode'] {
  if (active.length === 0) return 'reconnaissance';
  if (active.length === 1) return 'single_surface';
  return active.includes('planning_specs') ? 'sequential' : 'parallel';
}

/** What is relevant to the active surfaces, or everything readable when that leaves nothing. */
function knowledgeFor(parts: InputParts, active: readonly string[]): Record<string, JsonObject> {
  const readable = parts.readableSections.filter((section) => Object.hasOwn(parts.store, section));
  const relevant = active.flatMap((surface) => parts.surfaces[surface]?.sections ?? []);
  const chosen = readable.filter((section) => relevant.includes(section));
  const shown = chosen.length > 0 ? chosen : readable;
  return Object.fromEntries(shown.map((section) => [section, objectOf(parts.store[section])]));
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function briefOf(parts: InputParts, routing: SurfaceRouting, knowledge: readonly string[]): TurnBrief {
  const { active_surfaces: active, primary_surface: primary } = routing;
  const own = ownSurface(parts);
  const neighbours = parts.surfaces[primary]?.neighbours ?? [];
  const crossCheck = active.length > 1 || (own !== null && own !== primary);
  const checksOf = (surface: string) => parts.surfaces[surface]?.checks ?? [];
  return {
    goal: parts.goal,
    acceptance_criteria: parts.acceptanceCriteria,
    scope: parts.scope,
    agent_role: roleOf(own, routing),
    primary_surface: primary,
    active_surfaces: active,
    adjacent_surfaces: unique([...active, ...neighbours]).filter((surface) => surface !== primary),
    dispatch_mode: routing.dispatch_mode,
    cross_check_required: crossCheck,
    consolidation_required: crossCheck,
    consolidation_fields: crossCheck ? CONSOLIDATION_KEYS : [],
    evidence_required: EVIDENCE_KEYS,
    patterns_required: true,
    contract_sections_to_anchor: knowledge.toSorted(),
    required_checks: unique([primary, ...neighbours].flatMap(checksOf)),
    recommended_peer_agents: routing.recommended_agents.filter((agent) => agent !== parts.agent),
    stop_conditions: STOP_CONDITIONS,
  };
}

function roleOf(own: string | null, routing: SurfaceRouting): TurnBrief['agent_role'] {
  if (routing.active_surfaces.length === 0) return 'reconnaissance';
  if (own === routing.primary_surface) return 'primary';
  return own !== null && routing.active_surfaces.includes(own) ? 'cross_check' : 'adjacent';
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)];
}

/** How the scores are counted. Every envelope names it, so that an old one can be understood. */
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
