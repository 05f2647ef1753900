import { chmod, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import type { JsonObject } from '../../../../src/domain/json/json.ts';
import { openMasterApiKey } from '../../../../src/settings/api-key.ts';
import { ConfigurationFindings, problemText } from '../../../../src/settings/problems.ts';
import {
  checkPolicies,
  readNotifications,
  readPlugins,
  readRelayers,
  readSigners,
  sectionEntries,
  sectionIds,
} from '../../../../src/settings/read-sections.ts';
import { notificationEntrySchema, relayerEntrySchema, signerEntrySchema } from '../../../../src/settings/schema.ts';
import { chains, relayer, signer, signerKinds } from '../../../support/config-folder.ts';

const section = (value: unknown) => ({ value, place: { file: 'f', path: 's' } });

t.test('a section that is missing is empty, one that is no array is a problem', (t) => {
  const findings = new ConfigurationFindings();
  t.strictSame(readPlugins(section(undefined), findings), []);
  t.strictSame(findings.problems, []);
  t.strictSame(readPlugins(section({}), findings), []);
  t.strictSame(findings.problems.map(problemText), ['f: s: must be an array']);
  t.end();
});

t.test('ids are found in entries of any shape', (t) => {
  t.strictSame(sectionIds([{ id: 'a' }, { id: 7 }, null, 'x', { id: 'b', other: 1 }]), ['a', 'b']);
  t.strictSame(sectionIds('none'), []);
  t.strictSame(sectionEntries(section(['x'])), [['x', { file: 'f', path: 's[0]' }]]);
  t.end();
});

t.test('policies are parsed by the chain, also beside other faults', (t) => {
  const findings = new ConfigurationFindings();
  const read = readRelayers(
    section([relayer, { ...relayer, id: 7, policies: { x: 1 } }, { ...relayer, id: 'c', policies: null }]),
    chains,
    findings,
  );
  t.match(
    read.map(({ id, policies }) => [id, policies]),
    [
      ['r1', {}],
      ['c', {}],
    ],
  );
  t.match(findings.problems.map(problemText), [/^f: s\[1\]\.id: /, 'f: s[1].policies.x: unknown key']);
  t.end();
});

t.test('policies that the named network cannot give are a problem', (t) => {
  const findings = new ConfigurationFindings();
  const policyFault = (_: unknown, network: string, settings?: JsonObject) =>
    network === 'x' && settings?.['relay'] === undefined ? 'not on x' : null;
  const choosy = new Map([...chains].map(([type, chain]) => [type, { ...chain, policyFault }]));
  const read = readRelayers(section([relayer, { ...relayer, id: 'b', network: 'x' }]), choosy, findings);
  const checkAll = (settings: JsonObject) => {
    const networks = [{ type: 'evm' as const, name: 'x', rpcUrls: [], settings }];
    const places = [0, 1].map((index) => ({ file: 'f', path: `s[${index}]` }));
    for (const [index, one] of read.entries()) {
      checkPolicies(one, places[index] ?? { file: '', path: '' }, { networks, chains: choosy }, findings);
    }
  };
  checkAll({ relay: 'there' });
  t.strictSame(findings.problems.map(problemText), [], 'the network has what is asked for');
  checkAll({});
  t.strictSame(findings.problems.map(problemText), ['f: s[1].policies: not on x']);
  t.end();
});

t.test('unknown keys inside a policy’s lists and options are ignored with a warning, others are problems', (t) => {
  const findings = new ConfigurationFindings();
  const token = z.strictObject({ mint: z.string() });
  const options = z.strictObject({ options: z.strictObject({ level: z.string() }) });
  const policySchema = z.strictObject({ tokens: z.array(token), swap: options }).transform((all): JsonObject => all);
  const strict = new Map([...chains].map(([type, chain]) => [type, { ...chain, policySchema }]));
  const policies = { tokens: [{ mint: 'a', old: 1 }], swap: { options: { level: 'x', older: 2 } } };
  const [read] = readRelayers(section([{ ...relayer, policies }]), strict, findings);
  t.strictSame(read?.policies, { tokens: [{ mint: 'a' }], swap: { options: { level: 'x' } } });
  t.strictSame(findings.warnings.map(problemText), [
    'f: s[0].policies.tokens[0].old: unknown key, ignored',
    'f: s[0].policies.swap.options.older: unknown key, ignored',
  ]);
  t.strictSame(findings.problems, []);
  t.strictSame(policies.tokens, [{ mint: 'a', old: 1 }], 'the declaration stays as it is');
  const slips = { tokens: [], swap: { options: { level: 'x' }, x: 1 }, y: 1 };
  readRelayers(section([{ ...relayer, policies: slips }]), strict, findings);
  const near = { tokens: [{ mint: 'a', mnt: 'b' }], swap: { options: { level: 'x' } } };
  readRelayers(section([{ ...relayer, policies: near }]), strict, findings);
  t.match(findings.problems.map(problemText), [
    /policies\.swap\.x: unknown key/,
    /policies\.y: unknown key/,
    'f: s[0].policies.tokens[0].mnt: unknown key. Did you mean "mint"?',
  ]);
  t.end();
});

t.test('a signer is parsed by its kind', (t) => {
  const findings = new ConfigurationFindings();
  t.strictSame(
    readSigners(section([signer, { ...signer, id: 'b', config: { path: 1 } }]), signerKinds, findings).length,
    1,
  );
  t.match(findings.problems.map(problemText), [/s\[1\]\.config\.path/, /s\[1\]\.config\.passphrase: missing/]);
  t.end();
});

t.test('a short webhook key works and is remarked', (t) => {
  const findings = new ConfigurationFindings();
  const entry = (id: string, signing_key?: unknown) => ({ id, type: 'webhook', url: 'https://a.test', signing_key });
  const entries = [
    entry('a'),
    entry('b', { type: 'plain', value: 'short' }),
    entry('c', { type: 'env', value: 'KEY' }),
  ];
  t.equal(readNotifications(section(entries), { KEY: 'k'.repeat(32) }, findings).length, 3);
  t.strictSame(findings.warnings.map(problemText), ['f: s[1].signing_key: the key has fewer than 32 characters']);
  const alone = { ...entry('d'), second_signing_key: { type: 'plain', value: 'k'.repeat(32) } };
  readNotifications(section([alone]), {}, findings);
  t.strictSame(findings.problems.map(problemText), ['f: s[0].second_signing_key: needs a signing_key']);
  t.end();
});

t.test('a relayer: what it needs, what it may have', (t) => {
  const full = { ...relayer, notification_id: null, custom_rpc_urls: ['https://a.test'], policies: { x: 1 }, extra: 1 };
  t.match(relayerEntrySchema.parse(full), { id: 'r1', custom_rpc_urls: [{ url: 'https://a.test', weight: 100 }] });
  for (const key of Object.keys(relayer)) {
    t.notOk(relayerEntrySchema.safeParse({ ...relayer, [key]: undefined }).success, `${key} is needed`);
    t.notOk(relayerEntrySchema.safeParse({ ...relayer, [key]: 7 }).success, `${key} has a type`);
  }
  t.notOk(relayerEntrySchema.safeParse({ ...relayer, id: 'x'.repeat(37) }).success);
  t.notOk(relayerEntrySchema.safeParse({ ...relayer, custom_rpc_urls: [] }).success);
  t.end();
});

t.test('a signer has no other keys', (t) => {
  t.ok(signerEntrySchema.safeParse(signer).success);
  t.notOk(signerEntrySchema.safeParse({ ...signer, passphrase: 'x' }).success);
  t.end();
});

t.test('a notification is a webhook', (t) => {
  const entry = { id: 'n', type: 'webhook', url: 'https://a.test', signing_key: { type: 'env', value: 'K' } };
  t.ok(notificationEntrySchema.safeParse(entry).success);
  for (const wrong of [{ type: 'email' }, { url: 'x' }, { signing_key: 'text' }, { extra: 1 }]) {
    t.notOk(notificationEntrySchema.safeParse({ ...entry, ...wrong }).success, JSON.stringify(wrong));
  }
  t.end();
});

t.test('the key of the environment is used and nothing is written', async (t) => {
  const dir = t.testdir({});
  t.strictSame(await openMasterApiKey('k'.repeat(32), join(dir, 'data')), {
    key: 'k'.repeat(32),
    file: null,
    isNew: false,
  });
  await t.rejects(stat(join(dir, 'data')), { code: 'ENOENT' });
});

t.test('without one a key is made for its owner only, and found again', async (t) => {
  const dir = join(t.testdir({}), 'new', 'data');
  const made = await openMasterApiKey(undefined, dir);
  t.match(made.key, /^[0-9a-f]{64}$/);
  t.equal(made.file, join(dir, 'api-key'));
  t.equal((await stat(join(dir, 'api-key'))).mode & 0o777, 0o600);
  t.equal(await readFile(join(dir, 'api-key'), 'utf8'), `${made.key}\n`);
  t.equal(made.isNew, true);
  t.strictSame(await openMasterApiKey(undefined, dir), { ...made, isNew: false });
  const other = await openMasterApiKey(undefined, join(dir, 'other'));
  t.not(other.key, made.key);
});

t.test('a file that others may read is closed to them', async (t) => {
  const dir = t.testdir({ 'api-key': 'k'.repeat(40) });
  await chmod(join(dir, 'api-key'), 0o644);
  t.equal((await openMasterApiKey(undefined, dir)).key, 'k'.repeat(40));
  t.equal((await stat(join(dir, 'api-key'))).mode & 0o777, 0o600);
});

t.test('a file with something else stops the start and shows nothing of it', async (t) => {
  for (const content of ['', 'short', `${'k'.repeat(40)} and more`]) {
    const opening = openMasterApiKey(undefined, t.testdir({ 'api-key': content }));
    await t.rejects(opening, { name: 'ConfigurationError', message: /api-key: does not hold a key.*Delete it/ });
    await opening.catch((error: Error) => t.notMatch(error.message, /kkk|short/));
  }
  await t.rejects(openMasterApiKey(undefined, t.testdir({ 'api-key': {} })), /cannot be read or made \(EISDIR\)/);
  await t.rejects(
    openMasterApiKey(undefined, join(t.testdir({ file: 'x' }), 'file')),
    /cannot be read or made \(ENOTDIR\)/,
  );
});
