import { z } from 'zod';

/** What kind of thing a transaction's attempts consume; fixed when the transaction is accepted. */
export const anchorKindSchema = z.enum(['sequence', 'text', 'none']);

export type AnchorKind = z.infer<typeof anchorKindSchema>;

/**
 * What one attempt consumes on the chain, so that nothing else can consume it too: a sequence of the lane's account, an
 * opaque text (a value that an account holds until it is used, the sequence of somebody else's account), or nothing.
 */
export type Anchor = { kind: 'sequence'; sequence: bigint } | { kind: 'text'; text: string } | { kind: 'none' };

/** Whether at most one of two attempts can take effect: they consume the same, and not nothing. */
export function conflicts(one: Anchor, other: Anchor): boolean {
  if (one.kind === 'sequence') return other.kind === 'sequence' && one.sequence === other.sequence;
  return one.kind === 'text' && other.kind === 'text' && one.text === other.text;
}

/** The sequence that an anchor consumes; null for other kinds. */
export function sequenceOf(anchor: Anchor): bigint | null {
  return anchor.kind === 'sequence' ? anchor.sequence : null;
}
