"""Jobs: runs and commands in processes of their own, which outlive whoever started them."""
