/** The names of the priority classes in metrics, highest first. */
export const CLASS_NAMES = ['interactive', 'bulk', 'campaign'] as const;
