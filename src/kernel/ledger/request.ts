// What can be asked of the ledger. Packets, results, deltas and entries were read and found valid before they come here.
import type { Code } from '../codes.ts';
import type { JsonObject } from '../json.ts';
import type { Denied } from '../verdict.ts';
import type { Asked } from './fact.ts';
import type { Links } from './links.ts';
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
      /** Paths that are forbidden whatever the packet says. */
      readonly forbidden?: readonly string[];
      /** Whether a task that stands in todo or blocked may be assigned anew. */
      readonly reassigns?: boolean;
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
      /** Who the person is who moves it. */
      readonly by?: string;
      /** Whose task it is when it moves to `in_progress`. */
      readonly owner?: string;
    }
  /** The owner is silent, or is known to be gone. Times are in milliseconds. */
  | {
      readonly kind: 'task.expire';
      readonly run?: string;
      readonly task: string;
      /** The newest sign of life that the asker knows of; whoever keeps the heartbeats knows better. */
      readonly lastHeartbeatAt: number | null;
      readonly why: 'silent' | 'gone';
      /** The claim that was looked at; a task that was claimed again since is another matter. */
      readonly fence?: number;
      /** What was seen of the owner, in words: that its process is gone, or runs and does nothing. */
      readonly observed?: string;
    }
  /** A sign of life whose token is not the one that is kept for it. */
  | {
      readonly kind: 'task.heartbeat';
      readonly run?: string;
      readonly task: string;
      readonly owner: string;
      readonly fence: number;
    }
  /** A payload about a task was refused before it came to the ledger's rules; that it was is written down. */
  | {
      readonly kind: 'task.refuse';
      readonly run?: string;
      readonly task: string;
      readonly asked: Asked;
      readonly refusal: Denied;
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
      /** The claim under which the entry is written; it must not be over. */
      readonly fence?: number;
      /** Who writes, where it is known to be an agent: then a task in progress asks for the fence. */
      readonly actor?: Actor;
    }
  /** Whether paths that differ in capitals only are the same, as on the disks of most laptops. */
  | { readonly kind: 'ledger.configure'; readonly foldCase: boolean }
  /** The links below a root that were found on the way of claimed paths, all of them. */
  | { readonly kind: 'ledger.link'; readonly root: string; readonly links: Links }
  | { readonly kind: 'ledger.hold'; readonly by: string; readonly reason: string }
  | { readonly kind: 'ledger.unhold'; readonly by: string; readonly reason: string };

export type RequestOf<K extends LedgerRequest['kind']> = Extract<LedgerRequest, { kind: K }>;
