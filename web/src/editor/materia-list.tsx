// The list of materia at the left, in groups. A row is dragged to the canvas, or added by a press.
import { type ReactNode, type Ref, useMemo, useState } from 'react';
import { type EditorDocument, materiaOf } from '../../../src/editor/document.ts';
import { isObject, type JsonObject, stringAt } from '../../../src/kernel/json.ts';
import { Button, Kbd } from '../parts/button.tsx';
import { Icon, type IconName } from '../parts/glyphs.tsx';
import { Foreign, Name } from '../parts/text.tsx';
import { inLine } from '../words.ts';
import { LOADOUT_TYPE, MATERIA_TYPE } from './canvas.tsx';
import { belowOf, kindOf } from './drawn.ts';
import { MateriaBar } from './nodes.tsx';
import '../parts/lists.css';

export const GROUPS = ['Agent', 'Generator', 'Utility', 'Loadout'] as const;
export type Group = (typeof GROUPS)[number];
const ICONS: Readonly<Record<Group, IconName>> = {
  Agent: 'person',
  Generator: 'fan',
  Utility: 'program',
  Loadout: 'casts',
};

export type MateriaRow = {
  readonly id: string;
  readonly name: string;
  readonly group: Group;
  readonly below: string;
  readonly color: string | null;
  readonly words: string;
};

/** Utilities are in their group, whatever else they are; a generator is an agent that makes items. */
export function rowsOf(document: EditorDocument): readonly MateriaRow[] {
  return Object.entries(materiaOf(document)).flatMap(([id, definition]) => {
    if (!isObject(definition)) return [];
    const kind = kindOf(id, definition);
    const group: Group = kind === 'utility' ? 'Utility' : definition.generator === true ? 'Generator' : 'Agent';
    const name = stringAt(definition, 'label') ?? id;
    const below = belowOf(kind, definition, id);
    return [
      {
        id,
        name,
        group,
        below,
        color: stringAt(definition, 'color'),
        words: wordsOf(id, name, group, below, definition),
      },
    ];
  });
}

function wordsOf(id: string, name: string, group: string, below: string, own: JsonObject): string {
  const more = [
    stringAt(own, 'description'),
    stringAt(own, 'group'),
    stringAt(own, 'type'),
    own.generator ? 'generator' : '',
  ];
  return [id, name, group, below, ...more].join(' ').toLowerCase();
}

const SORTS = [
  ['name', 'By name'],
  ['group', 'As written'],
  ['kind', 'By runner'],
] as const;

export function MateriaList({
  document,
  loadouts,
  isReadOnly,
  onAdd,
  onAddLoadout,
  onNew,
  searchRef,
}: {
  document: EditorDocument;
  loadouts: readonly string[];
  isReadOnly: boolean;
  onAdd: (materia: string) => void;
  onAddLoadout: (name: string) => void;
  onNew: () => void;
  searchRef: Ref<HTMLInputElement>;
}): ReactNode {
  const [text, setText] = useState('');
  const [sort, setSort] = useState<(typeof SORTS)[number][0]>('group');
  const [only, setOnly] = useState<'' | Group>('');
  const rows = useMemo(() => rowsOf(document), [document]);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (all: string): boolean => words.every((word) => all.includes(word));
  const shown = rows.filter((row) => fits(row.words) && (only === '' || row.group === only));
  const sorted =
    sort === 'group'
      ? shown
      : shown.toSorted((one, other) =>
          sort === 'name' ? one.name.localeCompare(other.name) : one.below.localeCompare(other.below),
        );
  const teams =
    only === '' || only === 'Loadout' ? loadouts.filter((name) => fits(`${name.toLowerCase()} loadout`)) : [];
  return (
    <aside className="materia-list" aria-label="Materia">
      <div className="filter-text materia-search">
        <Icon name="search" />
        <input
          ref={searchRef}
          type="search"
          aria-label="Find materia"
          placeholder="Find materia"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Kbd keys="/" />
      </div>
      <div className="materia-order">
        <select aria-label="Sort" value={sort} onChange={(event) => setSort(event.target.value as typeof sort)}>
          {SORTS.map(([value, says]) => (
            <option key={value} value={value}>
              {says}
            </option>
          ))}
        </select>
        <select aria-label="Group" value={only} onChange={(event) => setOnly(event.target.value as typeof only)}>
          <option value="">All groups</option>
          {GROUPS.map((group) => (
            <option key={group} value={group}>
              {group}
            </option>
          ))}
        </select>
      </div>
      {GROUPS.filter((group) => group !== 'Loadout').map((group) => {
        const own = sorted.filter((row) => row.group === group);
        if (own.length === 0) return null;
        return (
          <section key={group} aria-labelledby={`group-${group}`}>
            <h2 id={`group-${group}`}>{group}</h2>
            <ul>
              {own.map((row) => (
                <li key={row.id}>
                  <button
                    type="button"
                    className="materia-row"
                    draggable={!isReadOnly}
                    data-materia={row.id}
                    aria-disabled={isReadOnly || undefined}
                    title={inLine(isReadOnly ? row.below : `${row.below}. Drag it to the picture, or press to add it.`)}
                    onDragStart={(event) => {
                      event.dataTransfer.setData(MATERIA_TYPE, row.id);
                      event.dataTransfer.effectAllowed = 'copy';
                    }}
                    onClick={() => !isReadOnly && onAdd(row.id)}
                  >
                    <MateriaBar id={row.id} color={row.color} />
                    <Name text={row.name} />
                    <Icon name={ICONS[row.group]} />
                  </button>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      {teams.length > 0 ? (
        <section aria-labelledby="group-Loadout">
          <h2 id="group-Loadout">Loadout</h2>
          <ul>
            {teams.map((name) => (
              <li key={name}>
                <button
                  type="button"
                  className="materia-row"
                  title="Its sockets are copied into this one. Drag it to the picture, or press to add them."
                  draggable={!isReadOnly}
                  data-loadout={name}
                  aria-disabled={isReadOnly || undefined}
                  onDragStart={(event) => {
                    event.dataTransfer.setData(LOADOUT_TYPE, name);
                    event.dataTransfer.effectAllowed = 'copy';
                  }}
                  onClick={() => !isReadOnly && onAddLoadout(name)}
                >
                  <span className="materia materia-2" />
                  <Name text={name} />
                  <Icon name="casts" />
                </button>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {shown.length === 0 && teams.length === 0 ? (
        <p className="quiet materia-none">
          {text === '' ? (
            'No materia yet.'
          ) : (
            <>
              Nothing here is called “<Foreign text={text} />
              ”.
            </>
          )}
        </p>
      ) : null}
      {isReadOnly ? null : (
        <Button icon="plus" onPress={onNew} className="materia-new">
          New materia
        </Button>
      )}
    </aside>
  );
}
