import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Finding, normaliseReference, normaliseReferences, normaliseRemoteUrl } from './live-state.ts';

test.each([
  ['git@github.com:Acme/Queue.git', 'github.com/acme/queue'],
  ['https://github.com/acme/queue', 'github.com/acme/queue'],
  ['http://github.com/acme/queue/', 'github.com/acme/queue'],
  ['ssh://git@github.com/acme/queue.git', 'github.com/acme/queue'],
  ['git+ssh://git@github.com/acme/queue.git', 'github.com/acme/queue'],
  ['git+https://github.com/acme/queue.git', 'github.com/acme/queue'],
  ['git://github.com/acme/queue.git', 'github.com/acme/queue'],
  ['https://github.com/acme/queue.git/', 'github.com/acme/queue'],
  ['https://me:secret@github.com/acme/queue', 'github.com/acme/queue'],
  ['deploy@github.com:acme/queue', 'github.com/acme/queue'],
  ['https://git.acme.io:8443/acme/queue', 'git.acme.io/acme/queue'],
  ['ssh://git@git.acme.io:2222/acme/queue.git/', 'git.acme.io/acme/queue'],
  ['git+https://x-access-token:t0ken@github.com/acme/queue.git', 'github.com/acme/queue'],
  ['https://me:p@ss@github.com/acme/queue', 'github.com/acme/queue'],
  ['https://me:pa/ss@github.com/acme/queue', 'github.com/acme/queue'],
  ['https://me:pa?s#s@github.com/acme/queue', 'github.com/acme/queue'],
  ['https://t0ken@github.com/acme/queue.git', 'github.com/acme/queue'],
  ['https://github.com/acme/queue?tab=readme#top', 'github.com/acme/queue'],
  ['  github.com/acme/queue  ', 'github.com/acme/queue'],
  ['github.com/acme/queue.git.git', 'github.com/acme/queue.git'],
  ['', ''],
])('the remote %j is the workspace %j', (url, identity) => {
  expect(normaliseRemoteUrl(url)).toBe(identity);
});

test.each([
  ['github.com/acme/iac:tf_modules/network', 'github.com/acme/iac:tf_modules/network'],
  ['GitHub.com/Acme/IaC:tf_modules/Network', 'github.com/acme/iac:tf_modules/Network'],
  ['https://github.com/acme/iac.git:tf_modules/network', 'github.com/acme/iac:tf_modules/network'],
  ['git@github.com:acme/iac.git:tf_modules/network', 'github.com/acme/iac:tf_modules/network'],
  ['https://git.acme.io:8443/acme/iac:tf_modules/network', 'git.acme.io/acme/iac:tf_modules/network'],
  ['git://github.com/acme/iac.git/:tf_modules/network', 'github.com/acme/iac:tf_modules/network'],
  ['ssh://git@git.acme.io:2222/acme/iac.git:tf_modules/network', 'git.acme.io/acme/iac:tf_modules/network'],
  ['https://me:secret@github.com/acme/iac:tf_modules/network', 'github.com/acme/iac:tf_modules/network'],
  ['https://me:secret@gitlab.com/G/sub/repo.git:t/n', 'gitlab.com/g/sub/repo:t/n'],
  [
    'git@gitlab.com:group/sub/deeper/repo.git:tf_modules/network',
    'gitlab.com/group/sub/deeper/repo:tf_modules/network',
  ],
  ['gitlab.com/group/sub/repo:tf_modules/network', 'gitlab.com/group/sub/repo:tf_modules/network'],
  ['network', null],
  ['gitlab.com/group//repo:tf_modules/network', null],
  ['https://github.com/acme/iac', null],
  ['https://example.com:8080/docs', null],
  ['ghcr.io/acme/app:latest', null],
  ['localhost/acme/iac:tf_modules/network', null],
  ['see github.com/acme/iac:tf_modules/network', null],
  ['github.com/acme/iac:tf_modules/', null],
  ['github.com/acme:tf_modules/network', null],
])('the reference %j is spelled %j', (text, expected) => {
  expect(normaliseReference(text)).toBe(expected);
});

test('a password that was dropped is told to nobody', () => {
  const findings: Finding[] = [];
  const payload = { uses: ['https://me:hunter2@github.com/acme/iac:tf_modules/network'] };
  const stored = normaliseReferences(payload, 's', findings);
  expect(findings.map(({ code }) => code)).toEqual(['REFERENCE_NORMALISED:s.uses[0]']);
  expect(JSON.stringify([stored, findings])).not.toContain('hunter2');
});

const runs = Number(process.env.FUZZ_RUNS ?? 500);
const part = fc.stringMatching(/^[a-z0-9]{1,8}$/);
const password = fc.stringMatching(/^[A-Za-z0-9!@#$%&*:/?=+]{1,12}$/).map((text) => `${text}Zq9`);

test('no spelling of a remote keeps anything of its password, and each comes to the same', {
  timeout: 20_000 + runs * 10,
}, () => {
  const remote = fc.record({
    scheme: fc.constantFrom('https://', 'http://', 'ssh://', 'git+ssh://', 'git+https://', 'git://'),
    user: part,
    password,
    port: fc.constantFrom('', ':8443'),
    end: fc.constantFrom('', '/', '.git', '.git/', '?x=1', '#top'),
  });
  fc.assert(
    fc.property(remote, ({ scheme, user, password: secret, port, end }) => {
      const url = `${scheme}${user}:${secret}@git.acme.io${port}/acme/queue${end}`;
      expect(normaliseRemoteUrl(url)).toBe('git.acme.io/acme/queue');
      expect(normaliseRemoteUrl(normaliseRemoteUrl(url))).toBe('git.acme.io/acme/queue');
    }),
    { numRuns: runs },
  );
});
