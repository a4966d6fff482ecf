// A loadout as the server opens it, and what else the page asks about it.
import { useMemo } from 'react';
import type { LocatedIssue } from '../../../src/editor/check.ts';
import type { EditorDocument } from '../../../src/editor/document.ts';
import type { TextFault } from '../../../src/editor/faces.ts';
import type { Json } from '../../../src/kernel/json.ts';
import { call, look, type Verdict } from '../api.ts';
import { useLook } from '../workspace.ts';

export type Digests = Readonly<Record<string, string | null>>;

/** As `loadout.open` answers. */
export type OpenedFile = {
  readonly name: string;
  readonly home: 'config' | 'short' | 'new';
  readonly layer: 'bundled' | 'project';
  readonly kind: 'json' | 'yaml' | 'jsonc' | 'ts';
  readonly file: string;
  /** Why it cannot be saved where it is. */
  readonly readOnly: string | null;
  readonly text: string;
  readonly digests: Digests;
  /** Null where the text cannot be read. */
  readonly document: EditorDocument | null;
  readonly faults: readonly TextFault[];
  /** Who each materia is in the registry, which pins its prompt. */
  readonly identities: Readonly<Record<string, string>>;
  readonly utilities: object;
};

export type Opened = OpenedFile & { readonly document: EditorDocument };

export function openLoadout(name: string, isNew = false): Promise<Verdict<OpenedFile>> {
  return look('loadout.open', { name, ...(isNew ? { blank: true } : {}) });
}

/** The issues that only the server can tell, with all others; null where it does not answer. */
export async function checkThere(document: EditorDocument): Promise<readonly LocatedIssue[] | null> {
  const answer = await call<{ readonly issues: readonly LocatedIssue[] }>('loadout.check', { document });
  return answer.allow ? answer.details.issues : null;
}

type MachineRow = { readonly name: string; readonly level: string };

/** Values that forms offer, and what is missing on this machine. */
export function useOffers(): Readonly<Record<string, readonly string[]>> {
  const { details } = useLook<{ readonly findings: readonly MachineRow[] }>('doctor');
  return useMemo(() => {
    const missing = (details?.findings ?? []).filter(({ level }) => level !== 'ok').map(({ name }) => name);
    return { missingRunners: missing };
  }, [details]);
}

type Write = { readonly path: string; readonly before: string | null; readonly after: string };
type Conflict = {
  readonly path: readonly string[];
  readonly base: Json;
  readonly ours: Json;
  readonly theirs: Json;
};
export type Clash = {
  readonly merged: EditorDocument | null;
  readonly conflicts: readonly Conflict[];
  readonly now: { readonly document: EditorDocument | null; readonly digests: Digests } | null;
};
export type Saved = {
  readonly files: readonly Write[];
  readonly notes: readonly string[];
  readonly saved: boolean;
  readonly digests?: Digests;
  readonly document?: EditorDocument | null;
};
