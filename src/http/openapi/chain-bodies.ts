import { z } from 'zod';
import type { BodyDescription, Chain, SigningDescription } from '../../chains/chain.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import { networkCreateSchema, networkUpdateSchema } from '../../features/networks/network-form.ts';
import { relayerCreateSchema } from '../../features/relayers/relayer-create.ts';
import { signerCreateSchema } from '../../features/signers/signer-form.ts';
import { transactionStatusSchema } from '../../features/transactions/records/transaction-state.ts';
import type { ChainBodies } from '../operation.ts';
import { relayerAnswers } from './relayer-answers.ts';

/** The parts of a chain family that the description uses. */
export type DescribedChain = Pick<
  Chain,
  'sequence' | 'description' | 'networkSchema' | 'policySchema' | 'type' | 'unit'
>;

/** The kinds of signers that clients can make, by their type. */
export type DescribedSigners = ReadonlyMap<string, Parameters<typeof signerCreateSchema>[0]>;

/**
 * Combines the bodies of all families: a body may have the form of any family. Each family's body also gets a name of
 * its own.
 */
export function chainBodies(
  chains: ReadonlyMap<NetworkType, DescribedChain>,
  signerKinds: DescribedSigners,
): ChainBodies & { named: Readonly<Record<string, z.ZodType>> } {
  const families = [...chains.values()];
  const named: Record<string, z.ZodType> = {};
  const bodyOf = (kind: string, of: (family: DescribedChain) => BodyDescription | undefined): BodyDescription => {
    const bodies: BodyDescription[] = [];
    for (const family of families) {
      const body = of(family);
      if (body === undefined) continue;
      named[`${family.description.name}${kind}`] = body.schema;
      bodies.push(body);
    }
    return { schema: z.union(bodies.map(({ schema }) => schema)), example: bodies[0]?.example ?? {} };
  };
  const [first] = families;
  return {
    answers: relayerAnswers(families),
    example: { networkType: first?.type ?? '', unit: first?.unit ?? '' },
    policies: bodyOf('Policies', ({ policySchema: schema, description }) => ({
      schema,
      example: description.policies,
    })),
    relayer: bodyOf('Relayer', ({ type, policySchema, description }) => ({
      schema: relayerCreateSchema.extend({
        network_type: z.literal(type),
        // A family whose policies have a required field needs them.
        policies: policySchema.safeParse({}).success ? policySchema.nullish() : policySchema,
      }),
      example: {
        name: 'My relayer',
        network: 'sepolia',
        network_type: type,
        paused: false,
        signer_id: 'my-key',
        policies: description.policies,
      },
    })),
    signer: signerBody(signerKinds, named),
    networks: {
      create: bodyOf('Network', (family) => ({
        schema: networkCreateSchema(family),
        example: { name: 'my-chain', network_type: family.type, rpc_urls: ['https://rpc.example.com'] },
      })),
      update: bodyOf('NetworkUpdate', (family) => ({
        schema: networkUpdateSchema(family),
        example: { rpc_urls: [{ url: 'https://rpc.example.com', weight: 100 }] },
      })),
    },
    request: bodyOf('TransactionRequest', ({ description }) => description.request),
    transaction: z.union([...families.flatMap(({ description }) => description.transaction ?? []), FURTHER]),
    message: signingOf(families.flatMap(({ description }) => description.signing.message ?? [])),
    typedData: {
      ...bodyOf('TypedData', ({ description }) => description.signing.typedData),
      ...signingOf(families.flatMap(({ description }) => description.signing.typedData ?? [])),
    },
    unsent: {
      ...bodyOf('UnsentTransaction', ({ description }) => description.signing.transaction),
      ...signingOf(families.flatMap(({ description }) => description.signing.transaction ?? [])),
    },
    sponsorship: {
      ...bodyOf('SponsoredTransaction', ({ description }) => description.sponsorship),
      quote: z.union([...families.flatMap(({ description }) => description.sponsorship?.quote ?? []), SPONSORED]),
      built: z.union([...families.flatMap(({ description }) => description.sponsorship?.built ?? []), SPONSORED]),
    },
    methods: families.flatMap(({ description }) => description.methods ?? []).join(' '),
    named,
  };
}

/** The body that creates a signer. The schema of each kind gets a name of its own. */
function signerBody(kinds: DescribedSigners, named: Record<string, z.ZodType>): BodyDescription {
  const schemas = [...kinds.values()].map((kind) => {
    const words = kind.type.split('_').map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
    const schema = signerCreateSchema(kind);
    named[`${words.join('')}Signer`] = schema;
    return schema;
  });
  return { schema: z.union(schemas), example: { id: 'my-key', type: 'plain', config: { key: '01'.repeat(32) } } };
}

/** The sponsored answers of a family without its own schema. */
const SPONSORED = z.looseObject({ conversion_rate: z.string().optional() });

/** The transactions of a family without its own schema. */
const FURTHER = z.looseObject({
  id: z.string(),
  status: transactionStatusSchema,
  status_reason: z.string().nullable(),
});

function signingOf(
  parts: readonly Pick<SigningDescription, 'text' | 'answer'>[],
): Pick<SigningDescription, 'text' | 'answer'> {
  const answers = parts.map(({ answer }) => answer);
  return {
    text: parts.map(({ text }) => text).join(' '),
    answer: z.union([...answers, z.looseObject({ signature: z.string() })]),
  };
}
