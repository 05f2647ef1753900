import { createChains } from '../../src/chains/registry.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { clientSignerKinds } from '../../src/features/signers/signer-form.ts';
import { chainBodies } from '../../src/http/openapi/chain-bodies.ts';
import { createSignerKinds } from '../../src/signers/registry.ts';

/** What the description of the API is made of, with all that the service knows. */
export function describedBodies(chains = createChains(systemClock)): ReturnType<typeof chainBodies> {
  return chainBodies(chains, clientSignerKinds(createSignerKinds()));
}
