// What a program needs to work with a workspace, each name exported on purpose.
export type { LiveNews } from '../app/follow-cast.ts';
export type { LoggedFact } from '../app/views/flat-entry.ts';
export type { CastEvent, CastNews } from './cast-events.ts';
export {
  type Answer,
  type Claim,
  type Claimed,
  type OpenWorkspace,
  openWorkspace,
  type StandingCast,
  type TaskCalls,
} from './open-workspace.ts';
