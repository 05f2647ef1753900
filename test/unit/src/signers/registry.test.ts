import t from 'tap';
import { createSignerKinds, openSigner } from '../../../../src/signers/registry.ts';
import { signerTools } from '../../../support/signer-tools.ts';

const kinds = createSignerKinds();
const open = (entry: { type: string; config: unknown }) => openSigner(kinds, { id: 'demo', ...entry }, signerTools());

t.test('knows its kinds by the type that the configuration names', async (t) => {
  t.same(
    [...kinds.keys()],
    ['local', 'aws_kms', 'google_cloud_kms', 'azure_key_vault', 'vault', 'vault_transit', 'turnkey', 'cdp'],
  );
  t.same(kinds.get('local')?.curves, ['secp256k1', 'ed25519']);
});

t.test('says what is wrong with a declaration', async (t) => {
  const code = 'SIGNER_UNUSABLE';
  await t.rejects(open({ type: 'paper', config: {} }), {
    code,
    message:
      'Signer demo: there is no signer type "paper"; known: local, aws_kms, google_cloud_kms, azure_key_vault, vault, vault_transit, turnkey, cdp',
  });
  await t.rejects(open({ type: 'local', config: { path: 'a.json' } }), {
    code,
    message: /^Signer demo: config.passphrase: /,
  });
  await t.rejects(open({ type: 'local', config: null }), { code, message: /^Signer demo: config: / });
});

t.test('opens by kind', async (t) => {
  const config = { path: 'no-such-file.json', passphrase: { type: 'env', value: 'X' } };
  await t.rejects(open({ type: 'local', config }), {
    message:
      'Signer demo: there is no keystore at no-such-file.json; make one with `npm run isolayer -- keystore new no-such-file.json`',
  });
});
