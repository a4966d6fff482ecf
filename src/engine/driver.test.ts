import { expect, test } from 'vitest';
import { type Driver, isSameProcess, sharesProcesses, sightOf, thisDriver } from './lease.ts';

const me: Driver = { host: 'box', pid: 7, startTime: 'boot-1/500', machine: 'm-1', namespace: 'pid:[1]' };
const { machine: _machine, ...anywhere } = me;
const { namespace: _namespace, ...earlier } = anywhere;

/** Which process, whether its number and start time are in the table of processes, and what is told of it. */
test.each<[string, Driver, boolean, ReturnType<typeof sightOf>]>([
  ['itself', me, false, 'runs'],
  ['itself after the host got another name', { ...me, host: 'renamed' }, false, 'runs'],
  ['a process that is there', { ...me, pid: 8 }, true, 'runs'],
  ['a process that ended', { ...me, pid: 8 }, false, 'gone'],
  ['a process that ended before the host got another name', { ...me, pid: 8, host: 'old-name' }, false, 'gone'],
  ['its own number in an earlier boot', { ...me, startTime: 'boot-0/500' }, false, 'gone'],
  ['an earlier boot of another machine', { ...me, startTime: 'boot-0/500', machine: 'm-2' }, false, 'unknown'],
  ['an earlier boot of a container', { ...anywhere, startTime: 'boot-0/500' }, false, 'unknown'],
  ['another namespace of the same boot', { ...me, namespace: 'pid:[2]' }, false, 'unknown'],
  ['another namespace, where its number is taken here', { ...me, pid: 8, namespace: 'pid:[2]' }, true, 'unknown'],
  ['a namespace that could not be told', { ...me, pid: 8, namespace: '' }, true, 'unknown'],
  ['a boot without an id', { ...me, pid: 8, startTime: '/500' }, true, 'unknown'],
  ['an earlier version, the process is there', { ...earlier, pid: 8, host: 'old-name' }, true, 'runs'],
  ['an earlier version, the process ended', { ...earlier, pid: 8 }, false, 'gone'],
  ['an earlier version on another host', { ...earlier, pid: 8, host: 'far' }, false, 'unknown'],
])('%s', (_, driver, isPresent, sight) => {
  expect(sightOf(driver, me, () => isPresent)).toBe(sight);
});

test('a container has no id of its machine, so a restart of it is left to the lease', () => {
  const here = { ...anywhere, startTime: 'boot-1/9' };
  expect(sightOf({ ...anywhere, startTime: 'boot-0/500' }, here, () => false)).toBe('unknown');
});

test('two processes share their view of processes in one namespace of one boot only', () => {
  expect(sharesProcesses({ ...me, pid: 9 }, me)).toBe(true);
  expect(sharesProcesses({ ...me, namespace: 'pid:[2]' }, me)).toBe(false);
  expect(sharesProcesses({ ...me, startTime: 'boot-0/1' }, me)).toBe(false);
  expect(sharesProcesses({ ...me, namespace: '' }, { ...me, namespace: '' })).toBe(false);
});

test('this process names where it runs, and is the same whatever the host is called', () => {
  const own = thisDriver();
  expect(own.namespace).toMatch(process.platform === 'linux' ? /^pid:\[\d+\]$/ : /^host$/);
  expect(sightOf(own)).toBe('runs');
  expect(isSameProcess(own, { ...own, host: 'renamed' })).toBe(true);
  expect(isSameProcess(own, { ...own, namespace: 'pid:[2]' })).toBe(false);
});
