// The storage's own kind of fault belongs to the port; adapters and their users find it here too.
export { StorageError } from '../engine/storage-error.ts';
