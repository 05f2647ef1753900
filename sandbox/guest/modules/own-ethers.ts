/**
 * The plugin's own ethers: in a bundle the compiler puts its parts here, with its version. This is what there is of it
 * where the plugin has none.
 */
export const version: 0 | 5 | 6 = 0;
