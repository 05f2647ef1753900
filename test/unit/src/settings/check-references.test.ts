import t from 'tap';
import { z } from 'zod';
import { createEvmChain } from '../../../../src/chains/evm/index.ts';
import { createStellarChain } from '../../../../src/chains/stellar/index.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { parseOrReport } from '../../../../src/settings/check.ts';
import {
  checkCaveats,
  checkPluginGrants,
  checkRelayerReferences,
  type ReferableNames,
} from '../../../../src/settings/check-references.ts';
import type { ChainSchemas } from '../../../../src/settings/configuration.ts';
import { ConfigurationFindings, problemText } from '../../../../src/settings/problems.ts';
import { checkSecrets, configurationSecretSchema, createSecretResolver } from '../../../../src/settings/secrets.ts';
import { load, problemsOf, relayer, signer } from '../../../support/config-folder.ts';

const known: ReferableNames = {
  networks: [
    { type: 'evm', name: 'sepolia' },
    { type: 'stellar', name: 'testnet' },
    { type: undefined, name: 'faulty' },
  ],
  relayers: ['payout-1'],
  signers: ['s1'],
  notifications: ['n1'],
  secrets: ['KEYSTORE_PASSPHRASE'],
};
const at = { file: 'f', path: 'x[0]' };

function relayerFaults(value: unknown): string[] {
  const findings = new ConfigurationFindings();
  checkRelayerReferences(value, at, known, findings);
  return findings.problems.map(problemText);
}

t.test('a relayer names what exists', (t) => {
  const good = { signer_id: 's1', notification_id: 'n1', network: 'sepolia', network_type: 'evm' };
  t.strictSame(relayerFaults(good), []);
  t.strictSame(relayerFaults({ ...good, network: 'faulty' }), [], 'an entry with faults of its own is reported once');
  t.strictSame(relayerFaults({ ...good, signer_id: 7 }), [], 'what has no form is reported elsewhere');
  t.strictSame(relayerFaults('text'), []);
  t.match(relayerFaults({ ...good, network: 'testnet' }), [
    /x\[0\]\.network: there is no evm network "testnet"\. Describe it/,
  ]);
  t.match(relayerFaults({ ...good, signer_id: 's2', notification_id: 'other' }), [
    'f: x[0].signer_id: there is no signer "s2". Did you mean "s1"?',
    'f: x[0].notification_id: there is no notification "other". Declare it in "notifications"',
  ]);
  t.end();
});

t.test('no credential of the service can be granted to a plugin', (t) => {
  const findings = new ConfigurationFindings();
  const env = ['STELLAR_NETWORK', 'API_KEY', 'KEYSTORE_PASSPHRASE', 'STORAGE_ENCRYPTION_KEY', 7];
  checkPluginGrants({ permissions: { env, relayers: { 'payout-1': [], payout1: [] } } }, at, known, findings);
  checkPluginGrants({ id: 'none' }, at, known, findings);
  t.match(findings.problems.map(problemText), [
    /permissions\.env\[1\]: API_KEY is a credential/,
    /permissions\.env\[2\]: KEYSTORE_PASSPHRASE is a credential/,
    /permissions\.env\[3\]: STORAGE_ENCRYPTION_KEY is a credential/,
  ]);
  t.match(findings.warnings.map(problemText), [/no relayer "payout1" is declared here\. Did you mean "payout-1"\?/]);
  t.end();
});

t.test('caveats', async (t) => {
  const { spending: _spending, ...untold } = createStellarChain();
  const families = new Map<string, ChainSchemas>([
    ['payer', createEvmChain(systemClock)],
    ['stellar-1', untold],
  ]);

  function faults(relayers: object): string[] {
    const findings = new ConfigurationFindings();
    checkCaveats({ permissions: { relayers } }, { file: 'f', path: 'plugins[0]' }, families, findings);
    return findings.problems.map(problemText);
  }

  t.test('what is named is an account and a function', (t) => {
    const to = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
    const good = { methods: ['send'], recipients: [to], selectors: ['0x', '0xa9059cbb', 'transfer(address,uint256)'] };
    t.strictSame(faults({ payer: good, other: { recipients: ['nobody knows its chain'] } }), []);
    t.strictSame(faults({ payer: { ...good, recipients: [to, 'alice', 7], selectors: ['transfer'] } }), [
      'f: plugins[0].permissions.relayers.payer.recipients[1]: expected an account of a network of type evm, not "alice"',
      'f: plugins[0].permissions.relayers.payer.selectors[0]: expected a function, as 0xa9059cbb or ' +
        'transfer(address,uint256), or 0x, not "transfer"',
    ]);
    t.end();
  });

  t.test('where nobody can tell what is sent, nothing may be limited', (t) => {
    t.match(faults({ 'stellar-1': { methods: ['send'], value_per_hour: 1 } }), [
      /relayers\.stellar-1: what is sent through relayers of type stellar cannot be limited in this version\. Leave out value_per_hour/,
    ]);
    t.strictSame(faults({ 'stellar-1': { methods: ['send'] } }), []);
    t.strictSame(faults({ 'stellar-1': ['send'] }), []);
    t.end();
  });

  t.test('what has no form is reported elsewhere', (t) => {
    const findings = new ConfigurationFindings();
    for (const value of ['text', {}, { permissions: { relayers: { payer: { recipients: 'all' } } } }]) {
      checkCaveats(value, { file: 'f', path: 'p' }, families, findings);
    }
    t.strictSame(findings.problems, []);
    t.end();
  });
});

t.test('signer curve', async (t) => {
  const sealed = { id: 's1', type: 'sealed', config: {} };
  const onStellar = { ...relayer, network_type: 'stellar', network: 'mainnet' };
  const configuration = (one: object, other: object) => ({
    'config/config.json': { relayers: [one], signers: [other] },
  });

  t.test('a signer that has no key on the curve of the network names the relayer and what would do', async (t) => {
    t.strictSame(await problemsOf(t, configuration(relayer, sealed)), [
      'config/config.json: relayers[0].signer_id: signer "s1" of type sealed cannot sign for relayer "r1": networks of ' +
        'type evm sign on secp256k1, and it signs on ed25519. Name a signer of type local or either',
    ]);
  });

  t.test('one that has a key and cannot sign with it for the family says why', async (t) => {
    t.strictSame(await problemsOf(t, configuration(onStellar, { ...sealed, type: 'half' })), [
      'config/config.json: relayers[0].signer_id: signer "s1" of type half cannot sign for relayer "r1": it knows no ' +
        'stars. Name a signer of type local or either or sealed',
    ]);
  });

  t.test('one whose configuration says on which curve its key is', async (t) => {
    const either = (curve: string) => ({ ...sealed, type: 'either', config: { curve } });
    t.strictSame(await problemsOf(t, configuration(relayer, either('ed25519'))), [
      'config/config.json: relayers[0].signer_id: signer "s1" of type either cannot sign for relayer "r1": networks of ' +
        'type evm sign on secp256k1, and it signs on ed25519. Name a signer of type local or either with a key on secp256k1',
    ]);
    t.equal((await load(t, configuration(relayer, either('secp256k1')))).relayers.length, 1);
  });

  t.test('one that has is fine', async (t) => {
    t.equal((await load(t, configuration(onStellar, sealed))).relayers.length, 1);
    t.equal((await load(t, configuration(relayer, signer))).relayers.length, 1);
    t.equal((await load(t, configuration(onStellar, signer))).relayers.length, 1);
  });
});

t.test('a secret is a variable or itself', (t) => {
  const resolve = createSecretResolver({ NAME: 'value', EMPTY: '' });
  t.equal(resolve({ type: 'env', value: 'NAME' }), 'value');
  t.equal(resolve({ type: 'plain', value: 'itself' }), 'itself');
  t.throws(() => resolve({ type: 'env', value: 'NONE' }), { message: 'the environment variable NONE is not set' });
  t.throws(() => resolve({ type: 'env', value: 'EMPTY' }), /EMPTY is not set/);
  t.end();
});

t.test('the form of a secret', (t) => {
  t.ok(configurationSecretSchema.safeParse({ type: 'env', value: 'A', note: 'ignored' }).success);
  for (const wrong of ['text', { type: 'file', value: 'x' }, { type: 'env', value: '' }, { type: 'plain' }]) {
    t.notOk(configurationSecretSchema.safeParse(wrong).success, JSON.stringify(wrong));
  }
  t.end();
});

t.test('missing variables are found wherever they are named', (t) => {
  const findings = new ConfigurationFindings();
  const part = [
    { config: { a: { type: 'env', value: 'SET' }, deep: [{ type: 'env', value: 'NONE' }] } },
    null,
    'text',
    7,
  ];
  const names = checkSecrets(part, { file: 'f', path: 'signers' }, { SET: 'x' }, findings);
  t.strictSame(names, ['SET', 'NONE']);
  t.strictSame(findings.problems.map(problemText), [
    'f: signers[0].config.deep[0]: the environment variable NONE is not set. Set NONE, in .env for instance',
  ]);
  t.end();
});

t.test('a secret in place of the name of its variable is not shown', (t) => {
  for (const value of ['ab'.repeat(32), 'correct horse battery', 's3cret~value', `-----BEGIN PRIVATE KEY-----`]) {
    const findings = new ConfigurationFindings();
    checkSecrets({ key: { type: 'env', value } }, { file: 'f', path: 'signers' }, {}, findings);
    const text = findings.problems.map(problemText).join();
    t.match(text, /^f: signers\.key: .*does not look like a name.*put the secret into that variable/);
    t.notMatch(text, value);
    t.throws(() => createSecretResolver({})({ type: 'env', value }), /does not look like a name/);
  }
  t.end();
});

t.test('check', async (t) => {
  function faults(schema: z.ZodType, value: unknown): string[] {
    const findings = new ConfigurationFindings();
    parseOrReport(schema, value, { file: 'f', path: 'here' }, findings);
    return findings.problems.map(problemText);
  }

  t.test('each fault has its path, and what is missing is called missing', (t) => {
    const schema = z.object({ list: z.array(z.object({ id: z.string() })), flag: z.boolean() });
    t.strictSame(faults(schema, { list: [{ id: 'a' }, {}], flag: 'x' }), [
      'f: here.list[1].id: missing: expected a string',
      'f: here.flag: expected a boolean, not a string',
    ]);
    t.end();
  });

  t.test('an unknown key is compared with its neighbours, however deep', (t) => {
    const inner = z.strictObject({ memory_mb: z.int().optional() });
    const schema = z.strictObject({
      limits: inner.optional(),
      list: z.array(inner).default([]),
      named: z.record(z.string(), inner).nullable().optional(),
      piped: inner.transform((value) => value).optional(),
      pre: z.preprocess((value) => value, inner).optional(),
    });
    const slip = { memory_md: 1 };
    const value = { limits: slip, list: [slip], named: { x: slip }, piped: slip, pre: slip };
    t.strictSame(
      faults(schema, value),
      ['limits', 'list[0]', 'named.x', 'piped', 'pre'].map(
        (path) => `f: here.${path}.memory_md: unknown key. Did you mean "memory_mb"?`,
      ),
    );
    t.strictSame(faults(schema, { colour: 1 }), [
      'f: here.colour: unknown key. Known here: limits, list, named, piped, pre',
    ]);
    t.strictSame(faults(z.union([inner, inner]).or(z.strictObject({})), {}), []);
    t.end();
  });
});
