import { computeAddress, hexlify } from 'ethers';
import t from 'tap';
import { rawKeySignerKind } from '../../../../src/signers/raw-key.ts';
import { signerTools } from '../../../support/signer-tools.ts';

const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

t.test('a key is one on both curves', async (t) => {
  const config = { key: { type: 'plain' as const, value: KEY } };
  const signer = await rawKeySignerKind.create('mine', config, signerTools('', { reread: async () => config }));
  t.teardown(() => signer.close());
  t.equal(computeAddress(hexlify(await signer.publicKey('secp256k1'))), '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266');
  t.equal((await signer.publicKey('ed25519')).length, 32);
});

t.test('what is no key is refused in the reference’s words', (t) => {
  const faultOf = (value: string, type = 'plain') =>
    rawKeySignerKind.configSchema.safeParse({ key: { type, value } }).error?.issues[0]?.message;
  t.equal(faultOf(KEY), undefined);
  t.equal(faultOf(KEY.toUpperCase()), undefined);
  t.equal(faultOf('NAME_OF_A_VARIABLE', 'env'), undefined);
  for (const [key, fault] of [
    [`0x${KEY}`, /^Invalid hex key format: .*64-character hex string \(32 bytes\)\.$/],
    [KEY.slice(1), /^Invalid hex key format/],
    ['zz'.repeat(32), /^Invalid hex key format/],
    [KEY.slice(2), /must be exactly 32 bytes, got 31 bytes$/],
    [`${KEY}00`, /got 33 bytes$/],
    ['00'.repeat(32), /cannot be all zeros$/],
  ] as const) {
    t.match(faultOf(key), fault);
    t.notMatch(faultOf(key), key);
  }
  t.end();
});
