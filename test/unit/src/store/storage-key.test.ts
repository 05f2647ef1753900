import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createLog } from '../../../../src/observability/log.ts';
import { loadSealingKey } from '../../../../src/store/storage-key.ts';

const KEY = randomBytes(32);
const load = (dataDir: string, configured?: string, lines: string[] = []) =>
  loadSealingKey({
    dataDir,
    configured,
    randomBytes,
    log: createLog('info', { write: (line) => void lines.push(line) }),
  });

t.test('a configured key is taken as it is, several in their order', async (t) => {
  const dir = t.testdir();
  const older = randomBytes(32);
  t.strictSame(load(dir, KEY.toString('base64')).map(Buffer.from), [KEY]);
  t.strictSame(load(dir, ` ${KEY.toString('base64')} , ${older.toString('base64')}\n`).map(Buffer.from), [KEY, older]);
  t.throws(() => statSync(join(dir, 'storage-key')), 'and no file is made');
});

t.test('a key that is not one stops the start without being shown', async (t) => {
  const almost = randomBytes(31).toString('base64');
  for (const bad of [almost, `${KEY.toString('hex')}`, 'hunter2', `${KEY.toString('base64')},`]) {
    const error = t.throws(() => load(t.testdir(), bad), { message: /^STORAGE_ENCRYPTION_KEY must be base64/ });
    t.notOk(String((error as Error).message).includes(bad));
  }
});

t.test('without one a key is made once, for its owner only', async (t) => {
  for (const unset of [undefined, '', ' ']) {
    const dir = t.testdir();
    const lines: string[] = [];
    const [made = KEY] = load(dir, unset, lines);
    t.equal(made.length, 32);
    t.equal(statSync(join(dir, 'storage-key')).mode & 0o777, 0o600);
    t.notOk(lines.join().includes(Buffer.from(made).toString('base64')));
    t.strictSame(load(dir, unset).map(Buffer.from), [Buffer.from(made)]);
    t.equal(readFileSync(join(dir, 'storage-key'), 'utf8').trim(), Buffer.from(made).toString('base64'));
  }
});

t.test('a file that others can read is warned about, a broken one stops the start', async (t) => {
  const dir = t.testdir();
  const path = join(dir, 'storage-key');
  load(dir);
  chmodSync(path, 0o644);
  const lines: string[] = [];
  load(dir, undefined, lines);
  t.match(lines.join(), 'can be read by others');
  writeFileSync(path, 'half a k');
  t.throws(() => load(dir), { message: /storage-key must be base64/ });
  t.throws(() => load(t.testdir({ 'storage-key': {} })), { message: /cannot be read/ });
});
