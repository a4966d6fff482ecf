// What the forms of sockets, edges, loops and loadouts share.
import type { ReactNode } from 'react';
import type { FieldOwner, ValuePath } from '../../../src/editor/document.ts';
import { END } from '../../../src/kernel/graph/config.ts';
import type { Json } from '../../../src/kernel/json.ts';
import { Foreign } from '../parts/text.tsx';
import type { Draft, DraftState } from './draft.ts';
import type { Drawn } from './drawn.ts';
import type { Tab } from './form-fields.ts';
import type { FormContext } from './typed.tsx';

export type FormProps = {
  readonly draft: Draft;
  readonly state: DraftState;
  readonly drawn: Drawn;
  readonly isReadOnly: boolean;
  readonly tab: Tab;
  readonly onTab: (tab: Tab) => void;
  /** What the checks say, by the path of the field as text: `socket.Socket-3.parse`, `materia.Build.model`. */
  readonly faults: ReadonlyMap<string, string>;
  readonly offers: Readonly<Record<string, readonly string[]>>;
  /** The materia whose prompts the registry pins. */
  readonly locked: readonly string[];
  readonly trustOf: (materia: string) => ReactNode;
  readonly brief: (socket: string) => ReactNode;
  readonly placesOf: () => Readonly<Record<string, { readonly x: number; readonly y: number }>>;
};

export function contextOf(
  { draft, isReadOnly, faults, offers }: FormProps,
  of: FieldOwner,
  prefix: string,
): FormContext {
  return {
    isReadOnly,
    offers,
    settle: draft.settle,
    set: (path: ValuePath, value: Json | undefined) => {
      draft.edit({ edit: 'field.set', of, path, ...(value === undefined ? {} : { value }) });
    },
    faults: new Map(
      [...faults].flatMap(([path, says]) =>
        path.startsWith(`${prefix}.`) ? [[path.slice(prefix.length + 1), says]] : [],
      ),
    ),
  };
}

export function FormHead({ name, id, children }: { name: string; id: string; children?: ReactNode }): ReactNode {
  return (
    <div className="form-head">
      <h2>
        <Foreign text={name} />
      </h2>
      <span className="quiet">
        <Foreign text={id} />
      </span>
      <span className="grow" />
      {children}
    </div>
  );
}

export function nameOfTarget(drawn: Drawn, id: string): string {
  return id === END ? 'end' : (drawn.sockets.find((each) => each.id === id)?.name ?? id);
}

export function targetsOf(drawn: Drawn, hasEnd = true): readonly (readonly [string, string])[] {
  const names = drawn.sockets.map(({ id, name }) => [id, `${name}, ${id}`] as const);
  return hasEnd ? [...names, [END, 'end']] : names;
}
