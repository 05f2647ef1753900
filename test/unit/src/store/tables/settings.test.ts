import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { backupSqlite } from '../../../../../src/store/backup.ts';
import { createSealer, type Sealer } from '../../../../../src/store/sealing.ts';
import { openSqliteStore } from '../../../../../src/store/sqlite/sqlite.ts';
import { notificationOf, relayerOf, storeFor, temporaryStore } from '../../../../support/store.ts';

t.test('a record of unknown shape is an error that names it', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const change = { action: 'update', resource: 'relayer', resourceId: 'r1', before: null, after: null } as const;
  await store.write((writer) => writer.insertAuditRecord({ ...change, keyId: 'k', requestId: 'r' }));
  const vandal = new DatabaseSync(path);
  vandal.exec(`update audit_records set after = '[]'`);
  vandal.close();
  await t.rejects(store.read.auditRecords({ before: null, limit: 1 }, {}), { name: 'UnreadableRecord' });
});

t.test('what is most of the table is never sorted, and what is little in it has an index', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const about = { action: 'send', resource: 'transaction', resourceId: 't' } as const;
  await store.write((writer) =>
    writer.insertAuditRecord({ ...about, before: null, after: null, keyId: 'k', requestId: 'q' }),
  );
  const database = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => database.close());
  const planOf = (where: string) =>
    database
      .prepare(`explain query plan select * from audit_records where ${where} order by position desc limit 9`)
      .all()
      .map(({ detail }) => String(detail))
      .join('; ');
  const change = "resource not in ('transaction', 'delivery', 'signature')";
  t.equal(
    planOf("position < 9 and resource || '' = 'transaction'"),
    'SEARCH audit_records USING INTEGER PRIMARY KEY (rowid<?)',
  );
  t.match(planOf(change), /USING.* INDEX audit_records_of_changes$/);
  t.match(
    planOf(`${change} and position < 9 and resource || '' = 'relayer'`),
    /audit_records_of_changes \(position<\?\)$/,
  );
  t.match(
    planOf("resource = 'transaction' and resource_id = 't' and position < 9"),
    /audit_records_of_resource \([^)]*\)$/,
  );
});

t.test('networks', async (t) => {
  const NETWORK = {
    type: 'evm',
    name: 'mine',
    rpcUrls: [{ url: 'https://rpc.example/a-secret-key', weight: 1 }],
    settings: {},
    declaration: null,
  } as const;

  t.test('endpoints are sealed in their row and open in no other', async (t) => {
    const { store, path, remove } = await temporaryStore();
    t.teardown(remove);
    await store.write(async (writer) => {
      await writer.putNetwork({ ...NETWORK, rpcUrls: [...NETWORK.rpcUrls] });
      await writer.putNetwork({ ...NETWORK, name: 'other', rpcUrls: [] });
    });
    const vandal = new DatabaseSync(path);
    t.teardown(() => vandal.close());
    for (const { rpc_urls } of vandal.prepare('select rpc_urls from networks').all()) {
      t.match(rpc_urls, /^1\./);
      t.notMatch(rpc_urls, /secret/);
    }
    vandal.exec(`update networks set rpc_urls = (select rpc_urls from networks where name = 'mine')`);
    t.match(await store.read.storedNetwork('evm', 'mine'), NETWORK);
    t.match(await store.read.storedNetwork('evm', 'other'), { rpcUrls: [{ url: /is-damaged\.invalid/ }] });
  });
});

/**
 * A notification's signing key and URL are sealed in their row, are readable nowhere else, and open in no other row.
 */
t.test('notifications', async (t) => {
  const KEY = 'a signing key that nobody may see';
  const oldKey = randomBytes(32);
  const newKey = randomBytes(32);

  function open(path: string, sealer?: Sealer, log = createLog('silent')) {
    return openSqliteStore({
      path,
      log,
      clock: systemClock,
      ...(sealer === undefined ? {} : { sealer }),
    });
  }

  async function sealedDatabase(t: Test): Promise<string> {
    const path = `${t.testdir()}/store.db`;
    const store = await open(path, createSealer([oldKey], randomBytes));
    await store.write(async (writer) => {
      for (const id of ['hook-1', 'hook-2']) {
        await writer.putNotification(notificationOf({ id }));
        await writer.putSigningKey(id, `${KEY} of ${id}`);
      }
      await writer.putNotification(notificationOf({ id: 'unsigned' }));
    });
    await store.close();
    return path;
  }

  t.test('no file of the database holds a key or an address in clear, and neither does a backup', async (t) => {
    const { store, path, remove } = await temporaryStore();
    t.teardown(remove);
    const url = 'https://me:user-info@hooks.example/a-secret-path';
    await store.write(async (writer) => {
      await writer.putNotification(notificationOf({ url, declaration: { url } }));
      await writer.putSigningKey('hook-1', KEY);
    });
    const copy = `${t.testdir()}/backup.db`;
    await backupSqlite(path, copy, Buffer.alloc(32, 3));
    for (const file of [path, `${path}-wal`, copy]) {
      const bytes = await readFile(file);
      for (const secret of [KEY, 'user-info', 'a-secret-path']) t.notOk(bytes.includes(secret), `${file}: ${secret}`);
    }
    const expected = { ...notificationOf({ url, declaration: { url } }), hasSigningKey: true };
    t.match(await store.read.notification('hook-1'), expected);
  });

  t.test('what does not look like a seal is a damaged secret, never the secret itself', async (t) => {
    const flipped = (at: number) => (column: string) =>
      `substr(${column}, 1, ${at - 1}) || '!' || substr(${column}, ${at + 1})`;
    const damages = [flipped(1), flipped(2), flipped(9), flipped(19), flipped(31), () => `'https://thief.example/'`];
    for (const [index, damage] of damages.entries()) {
      const path = await sealedDatabase(t);
      const vandal = new DatabaseSync(path);
      t.teardown(() => vandal.close());
      const columns = ['url', 'declaration', 'signing_key'];
      vandal.exec(`update notifications set declaration = url where id = 'hook-1'`);
      vandal.exec(`update notifications set ${columns.map((one) => `${one} = ${damage(one)}`)} where id = 'hook-1'`);
      const rows = () => vandal.prepare(`select * from notifications where id = 'hook-1'`).all();
      const before = rows();
      const lines: string[] = [];
      const log = createLog('info', { write: (line) => void lines.push(line) });
      const store = await open(path, createSealer([newKey, oldKey], randomBytes), log);
      t.teardown(() => store.close());
      t.strictSame(rows(), before, `${index}: it is not sealed as if it were the secret`);
      t.match(await store.read.notification('hook-1'), { url: /is-damaged\.invalid/ });
      await t.rejects(store.read.signingKeys('hook-1'), { name: 'UnsealableSecret', reason: 'damaged' });
      t.equal(lines.filter((line) => line.includes('a stored secret cannot be opened')).length, columns.length);
      t.equal((await store.read.signingKeys('hook-2'))[0]?.export().toString(), `${KEY} of hook-2`);
    }
  });

  t.test('a sealed key that was moved to another row opens there no more', async (t) => {
    const path = await sealedDatabase(t);
    const vandal = new DatabaseSync(path);
    vandal.exec(`update notifications set signing_key = (select signing_key from notifications where id = 'hook-1')`);
    vandal.close();
    const store = await open(path, createSealer([oldKey], randomBytes));
    t.teardown(() => store.close());
    t.equal((await store.read.signingKeys('hook-1'))[0]?.export().toString(), `${KEY} of hook-1`);
    await t.rejects(store.read.signingKeys('hook-2'), { name: 'UnsealableSecret', message: /hook-2.*is damaged/ });
  });

  t.test('one start with both keys is enough to retire the old one', async (t) => {
    const path = await sealedDatabase(t);
    await (await open(path, createSealer([newKey, oldKey], randomBytes))).close();
    const store = await open(path, createSealer([newKey], randomBytes));
    t.teardown(() => store.close());
    for (const id of ['hook-1', 'hook-2']) {
      t.equal((await store.read.signingKeys(id))[0]?.export().toString(), `${KEY} of ${id}`);
    }
    t.strictSame(await store.read.signingKeys('unsigned'), []);
  });

  t.test('a store without a sealing key takes none', async (t) => {
    const store = await open(`${t.testdir()}/store.db`);
    t.teardown(() => store.close());
    await t.rejects(
      store.write((writer) => writer.putNotification(notificationOf())),
      { message: 'This store was opened without a key to seal secrets with' },
    );
    t.strictSame(await store.read.allNotifications(), []);
  });

  t.test('a record of unknown shape is an error that names it', async (t) => {
    const path = await sealedDatabase(t);
    const vandal = new DatabaseSync(path);
    const place = { table: 'notifications', row: 'hook-1', field: 'declaration' };
    const list = createSealer([oldKey], randomBytes).seal('[', place);
    vandal.prepare(`update notifications set declaration = ? where id = 'hook-1'`).run(list);
    vandal.close();
    const store = await open(path, createSealer([oldKey], randomBytes));
    t.teardown(() => store.close());
    await t.rejects(store.read.notification('hook-1'), { name: 'UnreadableRecord', message: /hook-1/ });
    t.match(await store.read.notification('hook-2'), { id: 'hook-2' });
  });

  t.test('what is read again is opened once, until it is another', async (t) => {
    const inner = createSealer([oldKey], randomBytes);
    let opened = 0;
    const opening = (...[sealed, place]: Parameters<Sealer['open']>) => {
      if (place.table === 'notifications') opened += 1;
      return inner.open(sealed, place);
    };
    const store = await open(`${t.testdir()}/store.db`, { ...inner, open: opening });
    t.teardown(() => store.close());
    const put = (url: string) => store.write((writer) => writer.putNotification(notificationOf({ url })));
    await put('https://one.example/');
    for (let read = 0; read < 3; read += 1) await store.read.notification('hook-1');
    t.equal(opened, 1);
    await put('https://two.example/');
    t.match(await store.read.notification('hook-1'), { url: 'https://two.example/' });
    t.equal(opened, 2);
  });
});

t.test('settings are sealed in their row, and what has another shape is an error', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const plugin = { pluginId: 'p', settings: { config: { token: 'canary' } }, isDisabled: false, declared: {} };
  await store.write((writer) => writer.putPlugin(plugin));
  const vandal = new DatabaseSync(path);
  t.teardown(() => vandal.close());
  t.notMatch(JSON.stringify(vandal.prepare('select * from plugin_settings').all()), 'canary');
  vandal.exec('update plugin_settings set is_disabled = 7');
  await t.rejects(store.read.storedPlugins(), { name: 'UnreadableRecord' });
  vandal.exec(`update plugin_settings set is_disabled = 0, plugin_id = 'q'`);
  t.match(await store.read.storedPlugin('q'), { settings: {}, isDisabled: true });
});

t.test('the newest comes first', async (t) => {
  let now = 1000;
  const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
  for (const id of ['b', 'c', 'a']) {
    await store.write((writer) => writer.putRelayer(relayerOf({ id })));
    now += 1;
  }
  await store.write((writer) => writer.putRelayer(relayerOf({ id: 'b', name: 'changed' })));
  t.strictSame(
    (await store.read.allRelayers()).map(({ id }) => id),
    ['a', 'c', 'b'],
  );
});

t.test('a record of unknown shape is an error that names it, and others are served', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write(async (writer) => {
    await writer.putRelayer(relayerOf({ id: 'good' }));
    await writer.putRelayer(relayerOf({ id: 'bad' }));
  });
  const unreadable = { name: 'UnreadableRecord', message: /^Record bad of table relayers cannot be read/ };
  const vandal = new DatabaseSync(path);
  t.teardown(() => vandal.close());
  for (const damage of [
    `paused = 7`,
    `network_type = 'bitcoin'`,
    `disabled_reason = '{"type":"Whim"}'`,
    `policies = 'null'`,
  ]) {
    vandal.exec('begin');
    vandal.exec(`update relayers set ${damage} where id = 'bad'`);
    vandal.exec('commit');
    await t.rejects(async () => store.read.relayer('bad'), unreadable, damage);
    await t.rejects(store.read.allRelayers(), unreadable);
    t.equal((await store.read.relayer('good'))?.id, 'good');
    vandal.exec("delete from relayers where id = 'bad'");
    await store.write((writer) => writer.putRelayer(relayerOf({ id: 'bad' })));
  }
});

t.test('endpoints of an operator’s own are sealed: no key in a URL reaches the file', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const customRpcUrls = [
    { url: 'https://user:canary-password@rpc.example/canary-key?token=canary-token', weight: 100 },
  ];
  await store.write((writer) => writer.putRelayer(relayerOf({ id: 'a', customRpcUrls })));
  t.strictSame((await store.read.relayer('a'))?.customRpcUrls, customRpcUrls);

  for (const file of [path, `${path}-wal`]) {
    t.notOk(readFileSync(file).includes('canary'), `${file.slice(path.length)} does not hold it in clear`);
  }
  const vandal = new DatabaseSync(path);
  t.teardown(() => vandal.close());
  vandal.exec(`update relayers set id = 'b' where id = 'a'`);
  t.match((await store.read.relayer('b'))?.customRpcUrls, [{ url: /is-damaged\.invalid/ }], 'nor can it move');
});

/** One start with both keys reseals everything, so the old key can be retired. */
t.test('reseal', async (t) => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  const rpcUrls = [{ url: 'https://rpc.example/a-secret-key', weight: 1 }];

  t.test('what was sealed under the old key is sealed under the new one', async (t) => {
    const path = `${t.testdir()}/store.db`;
    const open = (...keys: Uint8Array[]) =>
      openSqliteStore({ path, log: createLog('silent'), clock: systemClock, sealer: createSealer(keys, randomBytes) });
    const before = await open(oldKey);
    const network = { type: 'evm', name: 'mine', rpcUrls, settings: null, declaration: null } as const;
    await before.write(async (writer) => {
      await writer.putNotification(notificationOf());
      await writer.putSigningKey('hook-1', 'a signing key');
      await writer.putRelayer(relayerOf({ customRpcUrls: rpcUrls }));
      await writer.putNetwork(network);
      await writer.insertSigner({ id: 'key-1', type: 'plain', stamp: 'one', shown: {} }, { key: 'a key' });
      await writer.putPlugin({ pluginId: 'p', settings: { timeout: 5 }, isDisabled: false, declared: {} });
    });
    await before.close();
    await (await open(newKey, oldKey)).close();
    const after = await open(newKey);
    t.teardown(() => after.close());
    t.equal((await after.read.signingKeys('hook-1'))[0]?.export().toString(), 'a signing key');
    t.strictSame((await after.read.relayer('relayer-1'))?.customRpcUrls, rpcUrls);
    t.strictSame(await after.read.storedNetworks(), [network]);
    t.match(await after.read.storedPlugin('p'), { settings: { timeout: 5 } });
    t.strictSame(await after.read.signerConfig('key-1', 'one'), { key: 'a key' });
  });

  t.test('what is damaged is told and passed over; what another key opens stops the start', async (t) => {
    const path = `${t.testdir()}/store.db`;
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    const open = (...keys: Uint8Array[]) =>
      openSqliteStore({ path, log, clock: systemClock, sealer: createSealer(keys, randomBytes) });
    const before = await open(oldKey);
    const ids = Array.from({ length: 1_200 }, (_, index) => `event-${index}`);
    await before.write(async (writer) => {
      await writer.putRelayer(relayerOf({ id: 'whole', customRpcUrls: rpcUrls }));
      await writer.putRelayer(relayerOf({ id: 'broken', customRpcUrls: rpcUrls }));
    });
    await before.close();
    const vandal = new DatabaseSync(path);
    vandal.exec('pragma foreign_keys = off');
    const put = vandal.prepare(
      `insert into call_events (call_id, number, name, value, at) values (?, 0, 'x', 'damaged', 0)`,
    );
    for (const id of ids) put.run(id);
    vandal.exec(`update relayers set custom_rpc_urls = substr(custom_rpc_urls, 1, 30) where id = 'broken'`);
    vandal.close();
    const again = await open(newKey, oldKey);
    t.strictSame((await again.read.relayer('whole'))?.customRpcUrls, rpcUrls);
    await again.close();
    const told = lines.filter((line) => line.includes('a stored secret cannot be opened'));
    t.equal(told.length, 1 + ids.length, 'each once, and the search ends');
    t.match(told.join(''), /record broken of table relayers is damaged.*"effect":"the relayer calls no endpoint/);
    lines.length = 0;
    await (await open(newKey)).close();
    t.match(lines.join(''), /record broken of table relayers is damaged/, 'at each start');

    const other = createSealer([randomBytes(32)], randomBytes);
    const foreign = other.seal('[]', { table: 'relayers', row: 'whole', field: 'custom_rpc_urls' });
    const visitor = new DatabaseSync(path);
    visitor.prepare(`update relayers set custom_rpc_urls = ? where id = 'whole'`).run(foreign);
    visitor.close();
    await t.rejects(open(newKey), { message: /record whole of table relayers was sealed with another/ });
  });

  t.test('no whole row is left out for one that has a damaged field and is sealed anew', async (t) => {
    const path = `${t.testdir()}/store.db`;
    const open = (...keys: Uint8Array[]) =>
      openSqliteStore({ path, log: createLog('silent'), clock: systemClock, sealer: createSealer(keys, randomBytes) });
    await (await open(oldKey)).close();
    const database = new DatabaseSync(path);
    t.teardown(() => database.close());
    const put = database.prepare(
      `insert into calls (id, plugin_id, key_id, key, fingerprint, request, state, waits_for, tries, deaths, created_at,
        expires_at, ending, token) values (?, 'p', 'k', ?, 'f', ?, 'done', '[]', 1, 0, 0, 0, ?, 1)`,
    );
    const before = createSealer([oldKey], randomBytes);
    const { prefix } = createSealer([newKey], randomBytes);
    for (let index = 0; index < 502; index += 1) {
      const id = `call-${String(index).padStart(3, '0')}`;
      const seal = (field: string) => before.seal('{}', { table: 'calls', row: id, field });
      put.run(id, id, index === 0 ? `${prefix}AAAA` : seal('request'), seal('ending'));
    }
    await (await open(newKey, oldKey)).close();
    const left = database.prepare('select id from calls where substr(ending, 1, ?) <> ?');
    t.strictSame(left.all(prefix.length, prefix), []);
  });
});

t.test('signers', async (t) => {
  const signer = (id: string) => ({ id, type: 'plain', stamp: `of ${id}`, shown: {} });

  t.test('no file of the database holds a key in clear, and none opens in another row', async (t) => {
    const { store, path, remove } = await temporaryStore();
    t.teardown(remove);
    await store.write(async (writer) => {
      await writer.insertSigner(signer('a'), { key: 'a key of a' });
      await writer.insertSigner(signer('b'), { key: 'a key of b' });
    });
    for (const file of [path, `${path}-wal`]) t.notOk((await readFile(file)).includes('a key of'), file);
    const vandal = new DatabaseSync(path);
    vandal.exec(`update signers set config = (select config from signers where id = 'a')`);
    vandal.close();
    t.strictSame(await store.read.signerConfig('a', 'of a'), { key: 'a key of a' });
    await t.rejects(store.read.signerConfig('b', 'of b'), {
      name: 'UnsealableSecret',
      message: /record b of table signers/,
    });
  });
});
