import t from 'tap';
import { Findings, textOf } from '../../../../src/config/problems.ts';
import { checkGrants, checkRelayerReferences, type KnownNames } from '../../../../src/config/references.ts';

const known: KnownNames = {
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
  const findings = new Findings();
  checkRelayerReferences(value, at, known, findings);
  return findings.problems.map(textOf);
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
  const findings = new Findings();
  const env = ['STELLAR_NETWORK', 'API_KEY', 'KEYSTORE_PASSPHRASE', 'STORAGE_ENCRYPTION_KEY', 7];
  checkGrants({ permissions: { env, relayers: { 'payout-1': [], payout1: [] } } }, at, known, findings);
  checkGrants({ id: 'none' }, at, known, findings);
  t.match(findings.problems.map(textOf), [
    /permissions\.env\[1\]: API_KEY is a credential/,
    /permissions\.env\[2\]: KEYSTORE_PASSPHRASE is a credential/,
    /permissions\.env\[3\]: STORAGE_ENCRYPTION_KEY is a credential/,
  ]);
  t.match(findings.warnings.map(textOf), [/no relayer "payout1" is declared here\. Did you mean "payout-1"\?/]);
  t.end();
});
