import type { Test } from 'tap';
import { createSignerHttp } from '../../../src/egress/signer-http.ts';
import { createSignerKinds, openSigner } from '../../../src/signers/registry.ts';
import type { KindTools, Signer } from '../../../src/signers/signer.ts';
import { signerTools } from '../signer-tools.ts';
import type { SignerDouble } from './signer-double.ts';

/** Opens the project's own signer on a double, over HTTP. It is closed at the end of the test. */
export async function serviceSigner(
  t: Test,
  { type, config, environment = {} }: Pick<SignerDouble, 'type' | 'config' | 'environment'>,
  more: Partial<KindTools> = {},
): Promise<Signer> {
  const http = createSignerHttp();
  const secrets: KindTools['secrets'] = (secret) => {
    const value = secret.type === 'plain' ? secret.value : environment[secret.value];
    if (value === undefined) throw new Error(`${secret.value} is not set`);
    return value;
  };
  const signer = await openSigner(
    createSignerKinds(),
    { id: 'one', type, config },
    signerTools('', { http, identity: http, secrets, ...more }),
  );
  t.teardown(async () => {
    await signer.close();
    await http.close();
  });
  return signer;
}
