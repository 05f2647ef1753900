import { z } from 'zod';

/** Ids of relayers, signers and notifications: 1 to 36 letters, digits, dashes and underscores. */
export const idSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9_-]{1,36}$/,
    'ID must contain only letters, numbers, dashes and underscores and must be at most 36 characters long',
  );

/** Ids of plugins: the name of a file or folder, or any text of an entry; kept printable and short for labels. */
export const pluginIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/,
    'a plugin id has 1 to 128 letters, digits, dots, dashes, underscores and @, and begins with a letter or digit',
  );
