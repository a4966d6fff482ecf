// What a server sends besides verdicts, as its clients read it. Types only.
import type { LiveEvent } from '../engine/ports.ts';
import type { JsonObject } from '../kernel/json.ts';

/** A text over 256 bytes: its beginning, and where the whole is. */
export type TextRef = {
  readonly digest: string;
  readonly seq: number;
  readonly bytes: number;
  /** Its first 200 characters. */
  readonly preview: string;
};

/** An entry of the log. Long texts in its fact are a `TextRef`. */
export type SentEntry = {
  readonly seq: number;
  readonly at: string;
  readonly by: string;
  readonly clock?: string;
  readonly ranMs?: number;
  readonly fact: JsonObject & { readonly kind: string; readonly cast?: string };
};

/** What an agent says or does right now. It is not kept, and some of it is left out for a slow reader. */
export type Live = {
  readonly cast: string;
  readonly turn: number;
  readonly attempt: number;
  readonly event: LiveEvent;
};

export type Head = { readonly seq: number; readonly hash: string };

/** Who calls, where, and what may be done. */
export type About = {
  readonly me: { readonly name: string; readonly role: string };
  readonly workspace: { readonly name: string; readonly dir: string; readonly version: string };
  readonly head: Head;
  readonly operations: readonly (JsonObject & { readonly name: string; readonly act: string; readonly may: boolean })[];
};

export type { CastPage } from '../app/views/cast-page.ts';
