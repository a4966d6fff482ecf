import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { networkShareAt } from './file-system.ts';

const linux = test.runIf(process.platform === 'linux');

linux.each([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xff534d42 | 0, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0xef53, null],
  [0x01021994, null],
])('a file system of type %i is %s', (type, share) => {
  expect(networkShareAt('/anywhere', { typeOf: () => type })).toBe(share);
});

const FUSE = 0x65735546;

linux.each([
  ['fuse.sshfs ann@host:/home/ann', 'sshfs'],
  ['fuse.s3fs s3fs', 's3fs'],
  ['fuse.rclone drive:work', 'rclone'],
  ['fuse.glusterfs host:/volume', 'glusterfs'],
  ['fuse https://dav.example.org/files', 'https://dav.example.org/files'],
  ['fuse.gocryptfs /home/ann/.secret', null],
  ['fuse.mergerfs a:b', null],
  ['fuse.unheardof unheardof', null],
  ['fuseblk /dev/sdb1', null],
])('FUSE that is mounted as %s is %s', (mount, share) => {
  const mounts = [
    '27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw',
    `60 27 0:50 / /mnt/my\\040share rw shared:2 master:3 - ${mount} rw,user_id=0`,
    '61 27 0:51 / /mnt/my\\040share2 rw - fuse.sshfs elsewhere:/ rw',
    '62 60 0:52 / /mnt/my\\040share/below/deeper rw - fuse.sshfs elsewhere:/ rw',
  ].join('\n');
  expect(networkShareAt('/mnt/my share/below', { typeOf: () => FUSE, mounts: () => mounts })).toBe(share);
});

linux('of two mounts on one folder the later one counts', () => {
  const mounts = '60 27 0:50 / /mnt rw - fuse.sshfs host:/ rw\n61 60 0:51 / /mnt rw - fuse.bindfs /home rw\n';
  expect(networkShareAt('/mnt', { typeOf: () => FUSE, mounts: () => mounts })).toBe(null);
});

test('a folder of this machine is no share, and a folder that is not there is none either', () => {
  expect([networkShareAt(tmpdir()), networkShareAt('/no/such/folder')]).toEqual([null, null]);
});
