import { expect, test } from 'vitest';
import { normaliseReference, normaliseRemoteUrl } from './repo-reference.ts';

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
  ['network', null],
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
