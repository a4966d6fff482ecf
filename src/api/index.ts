// What a program needs to work with a workspace, each name exported on purpose.
export type { CastNews, LiveNews, LoggedFact } from '../mcp/cast-wait.ts';
export type { CastEvent } from './cast-events.ts';
export {
  type Answer,
  type Claim,
  type Claimed,
  type OpenWorkspace,
  openWorkspace,
  type StandingCast,
  type TaskCalls,
} from './open-workspace.ts';
