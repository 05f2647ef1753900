import { z } from 'zod';
import { type Column, accountSequenceColumn as sequenceColumn } from '../../../domain/record.ts';

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
export function anchorsConflict(one: Anchor, other: Anchor): boolean {
  if (one.kind === 'sequence') return other.kind === 'sequence' && one.sequence === other.sequence;
  return one.kind === 'text' && other.kind === 'text' && one.text === other.text;
}

/** The sequence that an anchor consumes; null for other kinds. */
export function sequenceOf(anchor: Anchor): bigint | null {
  return anchor.kind === 'sequence' ? anchor.sequence : null;
}

const SEQUENCE = 'sequence:';
const TEXT = 'text:';

/** Anchors as column texts. Conflicting anchors have equal texts. Null for an anchor of kind none. */
export const anchorColumn: Column<Anchor, string | null> = {
  schema: z
    .string()
    .nullable()
    .transform((stored, context): Anchor => {
      if (stored === null) return { kind: 'none' };
      if (stored.startsWith(TEXT)) return { kind: 'text', text: stored.slice(TEXT.length) };
      const digits = stored.startsWith(SEQUENCE) ? stored.slice(SEQUENCE.length) : '';
      const sequence = sequenceColumn.schema.safeParse(digits);
      if (sequence.success) return { kind: 'sequence', sequence: sequence.data };
      context.addIssue({ code: 'custom', message: 'no anchor' });
      return z.NEVER;
    }),
  write(anchor) {
    if (anchor.kind === 'sequence') return SEQUENCE + sequenceColumn.write(anchor.sequence);
    return anchor.kind === 'text' ? TEXT + anchor.text : null;
  },
};
