import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inspect } from 'node:util';
import { Kysely } from 'kysely';
import t from 'tap';
import { createLog } from '../../../../src/observability/log.ts';
import { sqliteColumns } from '../../../../src/store/column-types.ts';
import { migrations } from '../../../../src/store/migrations/migrations.ts';
import type { Tables } from '../../../../src/store/schema.ts';
import { checkSealingKeys, createSealer, loadSealingKey } from '../../../../src/store/sealing.ts';
import { sqliteDialect } from '../../../../src/store/sqlite/sqlite-dialect.ts';

// The threat: somebody who reads or edits the database file learns a secret, or passes one off as another.
const PLACE = { table: 'signers', row: 'signer-1', field: 'key' };
const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const sealer = createSealer([oldKey], randomBytes);

t.test('what is sealed opens, and only where it was sealed', async (t) => {
  for (const secret of ['', 'hunter2', 'ünï🚀\0', 'x'.repeat(100_000)]) {
    const sealed = sealer.seal(secret, PLACE);
    t.notOk(secret !== '' && sealed.includes(secret));
    t.equal(sealer.open(sealed, PLACE), secret);
    for (const elsewhere of [
      { ...PLACE, table: 'notifications' },
      { ...PLACE, row: 'signer-2' },
      { ...PLACE, field: 'passphrase' },
      { table: 'signerss', row: 'igner-1', field: 'key' },
    ]) {
      t.throws(() => sealer.open(sealed, elsewhere), { name: 'UnsealableSecret', reason: 'damaged' });
    }
  }
  t.not(sealer.seal('x', PLACE), sealer.seal('x', PLACE), 'a nonce is never used twice');
});

t.test('one flipped bit anywhere is an error for that record only, which names it', async (t) => {
  const [head, id, body = ''] = sealer.seal('secret', PLACE).split('.');
  const other = sealer.seal('other', { ...PLACE, row: 'signer-2' });
  const bytes = Buffer.from(body, 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const damaged = Buffer.from(bytes);
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    t.throws(() => sealer.open([head, id, damaged.toString('base64url')].join('.'), PLACE), {
      message: 'The secret in field key of record signer-1 of table signers is damaged',
    });
  }
  t.equal(sealer.open(other, { ...PLACE, row: 'signer-2' }), 'other');
});

t.test('what was never sealed is an error, not a secret', async (t) => {
  for (const text of ['', 'plain', '1.0.', '2.0123456789abcdef.AAAA', '1.0123456789abcdef.AAAA', 'null']) {
    t.throws(() => sealer.open(text, PLACE), { name: 'UnsealableSecret', reason: 'damaged' }, text);
  }
});

t.test('rotation: the first key seals, all open', async (t) => {
  const old = sealer.seal('secret', PLACE);
  const rotating = createSealer([newKey, oldKey], randomBytes);
  t.equal(rotating.open(old, PLACE), 'secret');
  t.equal(rotating.isOutdated(old), true);
  const resealed = rotating.seal('secret', PLACE);
  t.equal(rotating.isOutdated(resealed), false);
  t.throws(() => sealer.open(resealed, PLACE), {
    name: 'UnsealableSecret',
    message: /was sealed with another STORAGE_ENCRYPTION_KEY/,
  });
  t.equal(createSealer([newKey], randomBytes).open(resealed, PLACE), 'secret');
});

t.test('a damaged key id does not hide a secret that a key opens', async (t) => {
  const sealed = sealer.seal('secret', PLACE);
  const damaged = `${sealed.slice(0, 9)}${sealed[9] === '0' ? '1' : '0'}${sealed.slice(10)}`;
  const rotating = createSealer([newKey, oldKey], randomBytes);
  t.equal(rotating.open(damaged, PLACE), 'secret');
  t.ok(sealer.isOutdated(damaged), 'and it is sealed anew');
  t.throws(() => rotating.open(damaged, { ...PLACE, row: 'signer-2' }), {
    name: 'UnsealableSecret',
    reason: 'unknown-key',
  });
  t.throws(() => createSealer([newKey], randomBytes).open(damaged, PLACE), {
    name: 'UnsealableSecret',
    reason: 'unknown-key',
  });
});

t.test('keys have 32 bytes and are not shown', async (t) => {
  for (const keys of [[], [randomBytes(31)], [newKey, randomBytes(33)]]) {
    t.throws(() => createSealer(keys, randomBytes), RangeError);
  }
  const shown = inspect(sealer, { depth: 9, showHidden: true });
  t.notOk(shown.includes(oldKey.toString('hex')) || shown.includes(oldKey.toString('base64')));
});

t.test('a database knows the key that it was sealed with', async (t) => {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  await migrations[0]?.up(db, sqliteColumns);
  await checkSealingKeys(db, sealer);
  await checkSealingKeys(db, sealer);
  await t.rejects(checkSealingKeys(db, createSealer([newKey], randomBytes)), {
    message: /is not the key that this database/,
  });
  await checkSealingKeys(db, createSealer([newKey, oldKey], randomBytes));
  await checkSealingKeys(db, createSealer([newKey], randomBytes));
  await t.rejects(checkSealingKeys(db, sealer), 'the old key can be retired, and is');
});

t.test('storage key', async (t) => {
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
    t.strictSame(load(dir, ` ${KEY.toString('base64')} , ${older.toString('base64')}\n`).map(Buffer.from), [
      KEY,
      older,
    ]);
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
});
