import { z } from 'zod';

/** The kind of thing that a transaction's attempts consume; fixed when the transaction is accepted. */
export const anchorKindSchema = z.enum(['sequence', 'text', 'none']);

export type AnchorKind = z.infer<typeof anchorKindSchema>;

/**
 * What one attempt consumes on the chain, so that nothing else can consume it too. `sequence`: a sequence of the lane's
 * account. `text`: an opaque text, such as a value that an account holds until it is used, or the sequence of somebody
 * else's account. `none`: nothing.
 */
export type Anchor = { kind: 'sequence'; sequence: bigint } | { kind: 'text'; text: string } | { kind: 'none' };

/** Whether at most one of two attempts can take effect, because both consume the same thing. */
export function conflicts(one: Anchor, other: Anchor): boolean {
  if (one.kind === 'sequence') return other.kind === 'sequence' && one.sequence === other.sequence;
  return one.kind === 'text' && other.kind === 'text' && one.text === other.text;
}

/** The sequence that an anchor consumes; null for other kinds. */
export function sequenceOf(anchor: Anchor): bigint | null {
  return anchor.kind === 'sequence' ? anchor.sequence : null;
}
