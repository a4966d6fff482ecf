// What one entry changed of what is shown: the page before it and the page with it, side by side.
import type { CastPage } from '../../../src/app/views/cast-page.ts';
import { money, tokens } from '../words.ts';
import { nameOf, saysOf } from './shown.ts';

export type Change = readonly [what: string, before: string, after: string];

const ROWS_MAX = 24;

export function changesBetween(before: CastPage, after: CastPage): readonly Change[] {
  const rows: Change[] = [];
  const put = (what: string, was: string, is: string): void => {
    if (was !== is) rows.push([what, was, is]);
  };
  put('the cast', before.words, after.words);
  for (const edge of after.graph.edges) {
    const was = before.graph.edges.find(({ id }) => id === edge.id)?.count ?? 0;
    const way = edge.kind === 'exit' ? 'exit' : edge.when === 'always' ? 'handoffs' : edge.when.replace('_', ' ');
    const to = edge.to === 'end' ? 'the end' : nameOf(after, edge.to);
    put(`${way}, ${nameOf(after, edge.from)} to ${to}`, String(was), String(edge.count));
  }
  for (const item of after.items) {
    const was = before.items.find(({ list, key }) => list === item.list && key === item.key);
    const say = (each: typeof item | undefined): string =>
      each === undefined
        ? 'none'
        : each.socket === null || each.shown === 'done'
          ? each.words
          : `${nameOf(after, each.socket)}, ${each.words}`;
    put(`item ${item.number}`, say(was), say(item));
    put(`rework of item ${item.number}`, String(was?.rework ?? 0), String(item.rework));
  }
  for (const socket of after.graph.sockets) {
    const was = before.graph.sockets.find(({ id }) => id === socket.id);
    if (was) put(socket.name, saysOf(was), saysOf(socket));
  }
  const last = after.turns.at(-1);
  if (last && after.turns.length > before.turns.length)
    put('next turn', 'none', `${last.turn}, ${nameOf(after, last.socket)}`);
  for (const turn of after.turns.slice(-200)) {
    const was = before.turns.find((each) => each.turn === turn.turn);
    put(`attempts of turn ${turn.turn}`, String(was?.attempts.length ?? 0), String(turn.attempts.length));
    put(`refused in turn ${turn.turn}`, String(was?.refused ?? 0), String(turn.refused));
  }
  for (const { name, text } of after.data)
    put(`state.${name}`, before.data.find((each) => each.name === name)?.text ?? 'none', text);
  for (const task of after.tasks.slice(0, 500)) {
    const was = before.tasks.find((each) => each.task === task.task);
    put(`task ${task.task}`, was?.status ?? 'none', task.status);
  }
  put('tokens', tokens(before.usage.input + before.usage.output), tokens(after.usage.input + after.usage.output));
  put('cost', money(before.usage.cost), money(after.usage.cost));
  return rows.length > ROWS_MAX
    ? [...rows.slice(0, ROWS_MAX - 1), ['and more', '', String(rows.length - ROWS_MAX + 1)]]
    : rows;
}
