// Tests of loadouts: recorded trials in `.baton/tests`, played again in memory. No agent, no command and no network.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { jsonDocument } from '../../editor/json-text.ts';
import { type LoadoutTest, readTest, runTest, testFileOf, testOf } from '../../editor/recording.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { BrokenJson, readJsonFile, readText } from '../../workspace/load-config.ts';
import { openLoadout, writeFiles } from '../../workspace/loadout-files.ts';
import type { Workspace } from '../workspace.ts';
import { valueIn } from './loadout-edit.ts';
import type { Operation } from './table.ts';

const TESTS_MAX = 2_000;

export const runTests: Operation<'loadout.test'> = async (workspace, { loadout }) => {
  const files = testFiles(dirname(workspace.configFile));
  const results = files.flatMap((file): JsonObject[] => {
    const result = resultOf(workspace, file);
    return loadout === undefined || result.loadout === loadout ? [result] : [];
  });
  const failed = results.filter(({ passed }) => passed !== true);
  const details = { tests: results };
  if (results.length === 0) {
    // A misspelt name must not pass as "no test failed".
    if (loadout !== undefined && !openLoadout(workspace, loadout))
      return deny('UNKNOWN_LOADOUT', `There is no loadout ${loadout}, and no test of one.`, { name: loadout });
    const of = loadout === undefined ? '' : ` of ${loadout}`;
    return allow(`there are no tests${of} in .baton/tests; the editor saves a trial as one`, details);
  }
  const [first] = failed;
  if (!first) return allow(`${counted(results.length, 'test')} passed`, details);
  const [why] = first.differences as readonly string[];
  return deny(
    'TESTS_FAILED',
    `${failed.length} of ${counted(results.length, 'test')} failed; first: ${first.test}: ${why}`,
    details,
  );
};

function testFiles(home: string): readonly string[] {
  const folder = join(home, 'tests');
  if (!existsSync(folder)) return [];
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));
  return found
    .toSorted()
    .slice(0, TESTS_MAX)
    .map((name) => join(folder, name));
}

function resultOf(workspace: Workspace, file: string): JsonObject {
  const home = dirname(workspace.configFile);
  const path = file.slice(home.length + 1).replaceAll('\\', '/');
  const failed = (test: string, loadout: string | null, why: string): JsonObject => ({
    ...{ file: path, test, loadout, passed: false, path: [], end: 'not started' },
    differences: [why],
  });
  let value: ReturnType<typeof readJsonFile>;
  try {
    value = readJsonFile(file);
  } catch (error) {
    if (error instanceof BrokenJson) return failed(path, null, error.message);
    throw error;
  }
  const read = readTest(value);
  if (!read.ok) return failed(path, null, `The file is no test: ${read.why}.`);
  const { test } = read;
  const opened = openLoadout(workspace, test.loadout);
  if (!opened) return failed(test.test, test.loadout, `There is no loadout ${test.loadout}.`);
  if (!opened.document)
    return failed(test.test, test.loadout, `${test.loadout} cannot be read: ${opened.faults[0]?.message ?? ''}`);
  const { passed, path: taken, end, differences } = runTest(opened.document, test);
  return {
    file: path,
    test: test.test,
    loadout: test.loadout,
    passed,
    path: [...taken],
    end,
    differences: [...differences],
  };
}

export const saveTest: Operation<'loadout.record'> = async (workspace, { test: given, force = false }) => {
  const read = readTest(valueIn(given));
  if (!read.ok) return deny('BAD_USAGE', `The test is none: ${read.why}.`);
  const opened = openLoadout(workspace, read.test.loadout);
  if (!opened?.document) return deny('UNKNOWN_LOADOUT', `There is no loadout ${read.test.loadout}. Save it first.`, {});
  const test: LoadoutTest = { ...testOf(opened.document, read.test, read.test.test), ...named(read.test) };
  const home = dirname(workspace.configFile);
  const path = testFileOf(test);
  const before = existsSync(join(home, path)) ? readText(join(home, path)) : null;
  if (before !== null && !force)
    return deny('LOADOUT_EXISTS', `There is a test ${test.test} already. Give this one another name, or replace it.`, {
      path,
    });
  writeFiles(home, [{ path, before, after: jsonDocument(test as unknown as JsonObject) }]);
  return allow(`saved ${path}`, { path });
};

/** Names that came with the test count: the draft that was tried may be ahead of the file. */
function named({ steps }: LoadoutTest): Pick<LoadoutTest, 'steps'> | object {
  return Object.keys(steps).length === 0 ? {} : { steps };
}
