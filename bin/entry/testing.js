// `baton-run/testing`: a model for tests. The names stand here because an import has to find them without running anything.
import { own } from './own.js';

export const { modelServer } = own('testing/index');
