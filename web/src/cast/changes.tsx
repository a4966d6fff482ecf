// What one entry changed of what is shown: the page before it and the page with it, side by side.
import type { ReactNode } from 'react';
import type { CastPage } from '../../../src/app/views/cast-page.ts';
import { Foreign } from '../parts/text.tsx';
import { inLine, money, tokens } from '../words.ts';
import { nameOf, saysOf } from './shown.ts';

type Change = readonly [what: string, before: string, after: string];

const ROWS_MAX = 24;

function changesBetween(before: CastPage, after: CastPage): readonly Change[] {
  const rows: Change[] = [];
  const put = (what: string, was: string, is: string): void => {
    if (was !== is) rows.push([what, was, is]);
  };
  put('the cast', before.words, after.words);
  const edgesBefore = new Map(before.graph.edges.map(({ id, count }) => [id, count]));
  for (const edge of after.graph.edges) {
    const was = edgesBefore.get(edge.id) ?? 0;
    const way = edge.kind === 'exit' ? 'exit' : edge.when === 'always' ? 'handoffs' : edge.when.replace('_', ' ');
    const to = edge.to === 'end' ? 'the end' : nameOf(after, edge.to);
    put(`${way}, ${nameOf(after, edge.from)} to ${to}`, String(was), String(edge.count));
  }
  const itemsBefore = new Map(before.items.map((item) => [`${item.list} ${item.key}`, item]));
  for (const item of after.items) {
    const was = itemsBefore.get(`${item.list} ${item.key}`);
    const say = (each: typeof item | undefined): string =>
      each === undefined
        ? 'none'
        : each.socket === null || each.shown === 'done'
          ? each.words
          : `${nameOf(after, each.socket)}, ${each.words}`;
    put(`item ${item.number}`, say(was), say(item));
    put(`rework of item ${item.number}`, String(was?.rework ?? 0), String(item.rework));
  }
  const socketsBefore = new Map(before.graph.sockets.map((socket) => [socket.id, socket]));
  for (const socket of after.graph.sockets) {
    const was = socketsBefore.get(socket.id);
    if (was) put(socket.name, saysOf(was), saysOf(socket));
  }
  const last = after.turns.at(-1);
  if (last && after.turnCount > before.turnCount)
    put('next turn', 'none', `${last.turn}, ${nameOf(after, last.socket)}`);
  for (const turn of after.turns) {
    const was = before.turns.find((each) => each.turn === turn.turn);
    // A turn that came back to the page had left it before.
    if (!was && turn !== last) continue;
    put(`attempts of turn ${turn.turn}`, String(was?.attempts.length ?? 0), String(turn.attempts.length));
    put(`refused in turn ${turn.turn}`, String(was?.refused ?? 0), String(turn.refused));
  }
  for (const { name, text } of after.data)
    put(`state.${name}`, before.data.find((each) => each.name === name)?.text ?? 'none', text);
  for (const task of after.tasks) {
    const was = before.tasks.find((each) => each.task === task.task);
    // Of many tasks a page has only some.
    if (!was && before.tasks.length < before.taskCount) continue;
    put(`task ${task.task}`, was?.status ?? 'none', task.status);
  }
  put('tokens', tokens(before.usage.input + before.usage.output), tokens(after.usage.input + after.usage.output));
  put('cost', money(before.usage.cost), money(after.usage.cost));
  return rows.length > ROWS_MAX
    ? [...rows.slice(0, ROWS_MAX - 1), ['and more', '', String(rows.length - ROWS_MAX + 1)]]
    : rows;
}

export function Changed({ before, page }: { before: CastPage | null; page: CastPage }): ReactNode {
  const rows = before === null ? [] : changesBetween(before, page);
  return (
    <section className="changed-here" aria-label="Changed at this entry">
      <h3 className="changed-title">
        <span>Changed at this entry</span> <span>entry {page.seq}</span>
      </h3>
      {rows.length === 0 ? (
        <p className="pane-note">{before === null ? 'This is the first entry.' : 'Nothing that is shown here.'}</p>
      ) : (
        <table>
          <thead className="unseen">
            <tr>
              <th>what</th>
              <th>before</th>
              <th>after</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([what, was, is]) => (
              <tr key={what}>
                <td title={inLine(what)}>
                  <Foreign text={what} />
                </td>
                <td title={inLine(was)}>
                  <Foreign text={was} />
                </td>
                <td title={inLine(is)}>
                  <Foreign text={is} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
