// What can be asked of the ledger. Packets, results, deltas and entries were read and found valid before they come here.
import type { Code } from '../codes.ts';
import type { JsonObject } from '../json.ts';
import type { TaskStatus } from './transition.ts';

/** Who moves a task by hand. Without a word about it, a move with a fence is an agent's and one without a person's. */
export type Actor = 'person' | 'agent' | 'engine';

/** What a checker found out about one criterion. */
export type Check = { readonly pass: boolean; readonly found: string };

export type LedgerRequest =
  | {
      readonly kind: 'task.create';
      readonly packet: JsonObject;
      /** Where the paths of the task lie; the workspace itself by default. */
      readonly root?: string;
      readonly retriesMax?: number;
    }
  | {
      readonly kind: 'task.claim';
      readonly run?: string;
      readonly task: string;
      readonly owner: string;
      readonly expectedVersion?: number;
    }
  /** Finds the best task that can start now, and claims it. */
  | { readonly kind: 'task.next'; readonly run?: string; readonly owner: string }
  | {
      readonly kind: 'task.finish';
      readonly run?: string;
      readonly task: string;
      readonly fence: number;
      readonly result: JsonObject;
      /** The paths that were changed indeed. */
      readonly changes?: readonly string[];
      /** By criterion. */
      readonly checks?: Readonly<Record<string, Check>>;
    }
  | {
      readonly kind: 'task.move';
      readonly run?: string;
      readonly task: string;
      readonly to: TaskStatus;
      readonly reason: string;
      readonly code?: Code;
      readonly expectedVersion?: number;
      readonly fence?: number;
      readonly actor?: Actor;
      /** Whose task it is when it moves to `in_progress`. */
      readonly owner?: string;
    }
  /** The owner is silent, or is known to be gone. Times are in milliseconds. */
  | {
      readonly kind: 'task.expire';
      readonly run?: string;
      readonly task: string;
      readonly lastHeartbeatAt: number | null;
      readonly why: 'silent' | 'gone';
    }
  | {
      readonly kind: 'deltas.apply';
      readonly run: string;
      readonly stream: readonly JsonObject[];
      /** By task id, the version of the row from which the stream was computed. */
      readonly baseVersions?: Readonly<Record<string, number>>;
      /** The blockers that came with the stream; a task that it blocks has its code there. */
      readonly blockers?: readonly JsonObject[];
    }
  | {
      readonly kind: 'worklog.add';
      readonly run?: string;
      readonly task: string;
      readonly entry: JsonObject;
      readonly by: string;
    }
  | { readonly kind: 'ledger.hold'; readonly by: string; readonly reason: string }
  | { readonly kind: 'ledger.unhold'; readonly by: string; readonly reason: string };

export type RequestOf<K extends LedgerRequest['kind']> = Extract<LedgerRequest, { kind: K }>;
