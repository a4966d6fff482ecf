import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { networkShareAt } from './network-share.ts';

const linux = test.runIf(process.platform === 'linux');

linux.each([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xff534d42 | 0, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0xef53, null],
  [0x01021994, null],
])('a file system of type %i is %s', (type, share) => {
  expect(networkShareAt('/anywhere', () => type)).toBe(share);
});

test('a folder of this machine is no share, and a folder that is not there is none either', () => {
  expect([networkShareAt(tmpdir()), networkShareAt('/no/such/folder')]).toEqual([null, null]);
});
