// The pure state machine: rules, bookkeeping, owed work.
export { apply } from './apply.ts';
export { type Packet, packetOf } from './cast/packet.ts';
export type { Cast, Turn } from './cast/state.ts';
export { CODES, type Code } from './codes.ts';
export { type Decision, decide } from './decide.ts';
export type { Contract, Dialect, Handoff, Reading } from './dialect.ts';
export { type Entry, FACT_VERSION, type Fact } from './fact.ts';
export { check, issuesOf } from './graph/check.ts';
export type { Graph, Issue, Materia, Rules, Script, Socket } from './graph/config.ts';
export { resolve } from './graph/resolve.ts';
export type { Input, Request } from './input.ts';
export type { Json, JsonObject } from './json.ts';
export { type Effect, effectKey as keyOf, pending } from './pending.ts';
export { emptyState, type State } from './state.ts';
export { allow, type Denied, deny, type Verdict } from './verdict.ts';
