// A stand-in for a migration: it keeps the names of tables in a file.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const [action, table] = process.argv.slice(2);
const file = 'store/tables.txt';
const tables = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
if (action === '--list') console.log(tables.join('\n'));
else {
  const rest = tables.filter((each) => each !== table);
  mkdirSync('store', { recursive: true });
  writeFileSync(file, `${(action === '--add' ? [...rest, table] : rest).join('\n')}\n`);
}
