// `baton-run/client`: the operations of a server. The names stand here because an import has to find them without running anything.
import { own } from './own.js';

export const { connect } = own('client/index');
